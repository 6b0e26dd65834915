import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';

/** The bytes that the kernel still holds for each connection, because the other side has not taken them. */
export class KernelQueues {
  readonly #bytes: ReadonlyMap<string, number>;

  private constructor(bytes: ReadonlyMap<string, number>) {
    this.#bytes = bytes;
  }

  /**
   * Reads them all at once. Only Linux tells them (proc(5), /proc/net/tcp). Elsewhere they count as none.
   */
  static async read(): Promise<KernelQueues> {
    const tables = await Promise.all(['tcp', 'tcp6'].map((name) => linesOf(`/proc/self/net/${name}`)));
    return new KernelQueues(bytesIn(tables.flat()));
  }

  of({ localPort, remotePort }: Socket): number {
    return this.#bytes.get(`${hexOf(localPort)} ${hexOf(remotePort)}`) ?? 0;
  }
}

/** A line holds `12: 0100007F:1F90 0100007F:D431 01 00019E10:00000000 …`: both ends, the state, and what is unsent. */
const LINE = /^ *\d+: [0-9A-F]+:([0-9A-F]{4}) [0-9A-F]+:([0-9A-F]{4}) 01 ([0-9A-F]+):/;

function bytesIn(lines: readonly string[]): Map<string, number> {
  const bytes = new Map<string, number>();
  for (const line of lines) {
    const [, local, remote, queue = ''] = LINE.exec(line) ?? [];
    const ends = `${local} ${remote}`;
    // Two clients may use the same port of theirs.
    if (local !== undefined) bytes.set(ends, (bytes.get(ends) ?? 0) + Number.parseInt(queue, 16));
  }
  return bytes;
}

function hexOf(port: number | undefined): string {
  return (port ?? 0).toString(16).toUpperCase().padStart(4, '0');
}

async function linesOf(path: string): Promise<string[]> {
  try {
    return (await readFile(path, 'latin1')).split('\n');
  } catch {
    return [];
  }
}
