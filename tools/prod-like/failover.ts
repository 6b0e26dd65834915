import { setTimeout as sleep } from 'node:timers/promises';
import { findConnectionFault, startPostgres, type PostgresServer } from '../../lab/servers/postgres.js';
import {
  asAdmin,
  follow,
  primarySettings,
  promote,
  startStandby,
  waitForStandby,
} from '../../lab/servers/standby.js';

/** A primary and its synchronous standby, and who looks after them. */
export interface FailoverPair {
  /** Of both hosts, as the owner of the schema. */
  readonly url: string;
  /**
   * Kills the primary as a power failure does. Resolves when the standby has taken its place, and the old one follows it.
   * @returns when it was killed, by performance.now()
   */
  killPrimary(): Promise<number>;
  stop(): Promise<void>;
}

interface Seat {
  readonly name: string;
  readonly port: number;
  readonly dataDir: string;
  readonly logFile: string;
  readonly log: (line: string) => void;
}

/** The one who looks: so often, and so many misses in a row are a primary that died. */
const lookEveryMs = 1_000;
const misses = 3;

/**
 * Starts a primary that answers a commit once its standby has it, and a look-out that does by itself what
 * docs/operations/failover.md tells: it ends the primary that does not answer, keeps it from coming back, and promotes the
 * standby.
 */
export async function startPair(seats: readonly [Seat, Seat]): Promise<FailoverPair> {
  const servers = new Map<Seat, PostgresServer>();
  const state = { primary: seats[0], standby: seats[1], stopped: false, failovers: 0 };
  const serverOf = (seat: Seat): PostgresServer => {
    const server = servers.get(seat);
    if (server === undefined) throw new Error(`${seat.name} does not run`);
    return server;
  };
  servers.set(state.primary, await startPostgres({ ...state.primary, settings: primarySettings }));
  const seed = async (): Promise<void> => {
    const { primary, standby } = state;
    const from = { ...serverOf(primary), dataDir: primary.dataDir };
    servers.set(standby, await startStandby({ ...standby, primary: from }));
    await waitForStandby(from, standby.name);
  };
  await seed();

  const failOver = async (): Promise<void> => {
    const { primary: dead, standby: heir } = state;
    // First of all it must not take writes any more, whoever starts it.
    serverOf(dead).kill();
    await serverOf(dead).exited;
    follow(dead.dataDir, serverOf(heir), dead.name);
    await promote(serverOf(heir));
    Object.assign(state, { primary: heir, standby: dead });
    heir.log(`${heir.name} is the primary now`);
    await assertFollows(dead);
    await seed();
    state.failovers += 1;
  };
  const watching = (async () => {
    for (let missed = 0; !state.stopped;) {
      await sleep(lookEveryMs);
      missed = (await findConnectionFault(serverOf(state.primary).url)) === undefined ? 0 : missed + 1;
      if (missed < misses) continue;
      await failOver();
      missed = 0;
    }
  })();
  const failed: Error[] = [];
  watching.catch((error: unknown) => failed.push(error instanceof Error ? error : new Error(String(error))));
  const { host } = new URL(serverOf(seats[0]).url);
  return {
    url: serverOf(seats[0]).url.replace(host, seats.map(({ port }) => `127.0.0.1:${port}`).join()),
    async killPrimary() {
      const before = state.failovers;
      serverOf(state.primary).kill();
      const killedAt = performance.now();
      while (state.failovers === before) {
        if (failed[0] !== undefined) throw failed[0];
        await sleep(100);
      }
      return killedAt;
    },
    async stop() {
      state.stopped = true;
      await watching.catch(() => undefined);
      for (const seat of [state.standby, state.primary]) await servers.get(seat)?.stop();
    },
  };
}

/** What a killed server leaves, such as a backend that ends by itself, may hold its port for a moment. */
async function startSoon(seat: Seat): Promise<PostgresServer> {
  for (let left = 20; ; left -= 1) {
    try {
      return await startPostgres(seat);
    } catch (error) {
      if (left === 0 || !String(error).includes('Address already in use')) throw error;
      await sleep(500);
    }
  }
}

/** Starts the old primary as somebody might who knows nothing: it must take no writes. */
async function assertFollows(seat: Seat): Promise<void> {
  const old = await startSoon(seat);
  try {
    const { rows } = await asAdmin(old.adminUrl, (client) =>
      client.query<{ standby: boolean }>('select pg_is_in_recovery() as standby'),
    );
    if (rows[0]?.standby !== true) throw new Error(`${seat.name} came back as a primary`);
  } finally {
    await old.stop();
  }
}
