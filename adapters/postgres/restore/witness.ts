import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { acknowledgedAt } from '../acknowledged.js';
import type { Database } from '../database.js';

export interface Witness {
  /** Says that this process ends in order: it misses nothing. */
  stop(): Promise<void>;
}

interface WitnessParts {
  readonly db: Database;
  /** The address that the process's pools were opened with. */
  readonly url: string;
  readonly part: 'api' | 'worker';
  readonly log: Logger;
  /** Called while the database is not confirmed, once a second at most. */
  readonly compare?: () => Promise<'confirmed' | 'restored' | 'unproven'>;
  readonly everyMs?: number;
}

const everySecond = 1_000;

/**
 * Lets this process say each second which commits it saw acknowledged (decision 170, "Witnesses of commits"), so that a
 * server with another timeline is found to hold them all, or to miss one. It goes on while the database is away.
 */
export function startWitness({ db, url, part, log, compare, everyMs = everySecond }: WitnessParts): Witness {
  const id = randomUUID();
  const acknowledged = acknowledgedAt(url);
  const ending = new AbortController();
  /** The incarnation that it last spoke in, and the one that was found to be restored. */
  const state: { known: string | null; restored: string | null } = { known: null, restored: null };

  const speak = async (): Promise<void> => {
    const said = await bearWitness(db, { id, part, known: state.known, acknowledged: acknowledged.list() });
    state.known = said.incarnation;
    if (said.confirmed || compare === undefined || state.restored === said.incarnation) return;
    if ((await compare()) === 'restored') state.restored = said.incarnation;
  };
  const speaking = (async () => {
    while (!ending.signal.aborted) {
      // Whoever needs the database says that it is away.
      await speak().catch((error: unknown) => log.debug({ err: error }, 'no witness was borne'));
      await sleep(everyMs, undefined, { signal: ending.signal }).catch(() => undefined);
    }
  })();
  return {
    async stop() {
      ending.abort();
      await speaking;
      await db.raw('select end_witness(?)', [id]).catch(() => undefined);
    },
  };
}

/** A transaction: its own commit stands for all that was acknowledged before it. */
async function bearWitness(
  db: Database,
  {
    id,
    part,
    known,
    acknowledged,
  }: {
    readonly id: string;
    readonly part: string;
    readonly known: string | null;
    readonly acknowledged: ReturnType<ReturnType<typeof acknowledgedAt>['list']>;
  },
): Promise<{ incarnation: string; confirmed: boolean }> {
  return db.transaction(async (trx) => {
    const { rows } = await trx.raw<{ rows: { incarnation: string; confirmed: boolean }[] }>(
      'select * from bear_witness(?, ?, ?, ?::text[]::xid8[], ?::text[]::pg_lsn[], ?::text[])',
      [
        ...[id, part, known],
        acknowledged.map(({ xid }) => xid),
        acknowledged.map(({ position }) => position),
        acknowledged.map(({ timeline }) => timeline),
      ] as never[],
    );
    const [said] = rows;
    if (!said) throw new Error('bear_witness answered nothing');
    return said;
  });
}
