import { once } from 'node:events';
import { createConnection, createServer, type AddressInfo, type Socket } from 'node:net';

/**
 * A connection over loopback that can go silent, as a network does behind a firewall that lost its state: connections
 * stay open, bytes are accepted and never arrive, and neither side hears of an end.
 */
export interface SilentWay {
  readonly port: number;
  /** The number of connections made so far. */
  readonly made: number;
  /** The number of connections that went silent. */
  readonly silent: number;
  /** The number of silent connections that the near side has closed. */
  readonly closed: number;
  /** Silences all current connections. Later ones get through. */
  silence(): void;
  /** Silences new connections as well, until it is called with false. */
  silenceNew(on: boolean): void;
  /**
   * Silences the connection that sends this text.
   * @param arrives whether the text itself still reaches the far side; its answer is lost either way
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
  // These handlers pass the end of one side to the other, unless the connection is silent.
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
