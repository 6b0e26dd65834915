import { once } from 'node:events';
import { createConnection, createServer, type AddressInfo, type Socket } from 'node:net';

/**
 * A way over loopback that can go silent as a network does behind a lost firewall state: what is connected stays
 * connected, bytes are taken and never arrive, nobody hears of an end.
 */
export interface SilentWay {
  readonly port: number;
  /** Connections that were ever made over it. */
  readonly made: number;
  /** Connections that went silent. */
  readonly silent: number;
  /** Those of them that the near side has closed. */
  readonly closed: number;
  /** Silences all that is connected now; what connects later is let through. */
  silence(): void;
  /** Silences what connects from now on as well, until told otherwise. */
  silenceNew(on: boolean): void;
  /**
   * Silences the connection on which this text is sent.
   * @param arrives whether the text itself still reaches the far side, whose answer is then lost
   */
  silenceAt(text: string, arrives: boolean): void;
  close(): Promise<void>;
}

/** Opens a way to a port of this machine. Call `close` in an `after` hook. */
export async function openSilentWay(targetPort: number): Promise<SilentWay> {
  const paths = new Set<Path>();
  const rule: { at: { text: string; arrives: boolean } | undefined; silentFromStart: boolean } = {
    at: undefined,
    silentFromStart: false,
  };
  let made = 0;
  const all: Path[] = [];
  const server = createServer((near) => {
    made += 1;
    const path = makePath(near, createConnection(targetPort, '127.0.0.1'));
    path.silent = rule.silentFromStart;
    paths.add(path);
    all.push(path);
    near.on('data', (chunk: Buffer) => {
      if (rule.at !== undefined && !path.silent && chunk.includes(rule.at.text)) {
        if (rule.at.arrives) path.far.write(chunk);
        path.silent = true;
        rule.at = undefined;
      } else if (!path.silent) path.far.write(chunk);
    });
    path.far.on('data', (chunk: Buffer) => {
      if (!path.silent) near.write(chunk);
    });
    near.on('close', () => {
      path.closedNear = true;
      if (!path.silent) path.far.destroy();
    });
    path.far.on('close', () => {
      if (!path.silent) near.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    port: (server.address() as AddressInfo).port,
    get made() {
      return made;
    },
    get silent() {
      return all.filter(({ silent }) => silent).length;
    },
    get closed() {
      return all.filter(({ silent, closedNear }) => silent && closedNear).length;
    },
    silence() {
      for (const path of paths) path.silent = true;
    },
    silenceNew(on) {
      rule.silentFromStart = on;
    },
    silenceAt(text, arrives) {
      rule.at = { text, arrives };
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const { near, far } of paths) {
        near.destroy();
        far.destroy();
      }
      await closed;
    },
  };
}

interface Path {
  readonly near: Socket;
  readonly far: Socket;
  silent: boolean;
  closedNear: boolean;
}

function makePath(near: Socket, far: Socket): Path {
  // What was closed on one side is told to the other by the handlers of the way, unless it is silent.
  for (const end of [near, far]) end.on('error', () => undefined);
  return { near, far, silent: false, closedNear: false };
}

/** An address that leads over the way. */
export function urlOver(way: Pick<SilentWay, 'port'>, url: string): string {
  const over = new URL(url);
  over.hostname = '127.0.0.1';
  over.port = String(way.port);
  return over.toString();
}
