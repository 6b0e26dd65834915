import assert from 'node:assert/strict';
import fc from 'fast-check';
import { newId } from '../../../../adapters/ids.js';
import {
  countHours,
  listHoursToCount,
  sumHours,
  type Hours,
} from '../../../../adapters/postgres/catalog/reliability.js';
import { insertRentalRequest } from '../../../../adapters/postgres/requests/opening-requests.js';
import { openDatabase, type Database } from '../../../../adapters/postgres/database.js';
import type { ListingRow, RentalRow, ReliabilityRow } from '../../../../adapters/postgres/rows/tables.js';
import type { SoftwareOutline } from '../../../../domain/rentals/software.js';
import type { RentalId, UserId } from '../../../../domain/ids.js';
import { databaseRoles } from '../../../../migrations/roles.js';
import { insertListing, insertProvider, insertRental, insertUser } from '../../../support/money/factories.js';
import { openMoneyDatabase, type MoneyDatabase } from '../../../support/money/money.js';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const DAY = 24 * HOUR;
/** Half an hour after the clocks of Europe went back, in the middle of an hour. */
const NOW = Date.UTC(2026, 9, 25, 1, 30);

/** One machine that was asked for, as the test knows it. Times are milliseconds since 1970. */
interface Machine {
  readonly provider: string;
  readonly family: string;
  readonly askedAt: number;
  /** undefined: the purchase failed. */
  readonly rentalAt?: number | undefined;
  readonly answeredAt?: number | undefined;
  readonly runningAt?: number | undefined;
  readonly endedAt?: number | undefined;
  /** When the service learnt of its end. */
  readonly settledAt?: number | undefined;
  readonly fate: 'runs' | 'stopped' | 'lost' | 'never came up' | 'stopped before' | 'no capacity' | 'ours';
}

describe('the reliability of upstreams', () => {
  let database: MoneyDatabase;
  let db: Database;
  let userId: UserId;
  const listings = new Map<string, ListingRow>();

  before(async () => {
    database = await openMoneyDatabase();
    // An offset of three quarters of an hour: hours are those of UTC, wherever the server stands.
    await database.db.raw(`do $$ begin
      execute format('alter database %I set timezone = ''Asia/Kathmandu''', current_database()); end $$`);
    db = openDatabase(database.url, 2, 'test-worker', databaseRoles.worker);
    userId = (await insertUser(database.db)).id;
    for (const code of ['lab', 'other']) {
      await insertProvider(database.db, code);
      for (const family of ['rtx-4090', 'b200']) {
        const listing = await insertListing(database.db, { provider_code: code, family });
        listings.set(`${code} ${family}`, listing);
      }
    }
  });
  beforeEach(async () => {
    for (const table of ['lost_machines', 'meter_readings', 'allocation_attempts', 'rentals'] as const) {
      await database.db(table).delete();
    }
    for (const table of ['reliability_hours', 'reliability'] as const) await db(table).delete();
  });
  after(async () => {
    await db.destroy();
    await database.close();
  });

  const at = (ms: number | undefined): Date | null => (ms === undefined ? null : new Date(ms));

  /** Inserts the purchase, and the rental where the machine was bought. */
  async function insert(machine: Machine): Promise<RentalRow | undefined> {
    const id = newId('rent');
    const isBought = machine.fate !== 'no capacity' && machine.fate !== 'ours';
    const listing = listings.get(`${machine.provider} ${machine.family}`)!;
    await database.db('allocation_attempts').insert({
      ...{ rental_id: id, attempt: 1, tag: `test-${id}-1`, price_per_hour_cents: 50 },
      ...{ provider_code: machine.provider, listing_id: listing.id, offer_id: listing.offer_id },
      ...{ created_at: new Date(machine.askedAt), answered_at: at(machine.answeredAt) },
      ...(isBought
        ? { state: 'adopted', pod_id: `pod-${id}` }
        : {
            ...{ state: 'failed', given_up_at: at(machine.settledAt) },
            failed_by: machine.fate === 'ours' ? 'us' : 'upstream',
          }),
    });
    return isBought ? insertRentalOf(machine, id) : undefined;
  }

  const statuses = { runs: 'running', 'never came up': 'failed' } as const;

  async function insertRentalOf(machine: Machine, id: RentalId): Promise<RentalRow> {
    const { fate } = machine;
    const rental = await insertRental(database.db, userId, {
      ...{ id, tag: `test-${id}-1`, pod_id: `pod-${id}` },
      ...{ family: machine.family, provider_code: machine.provider },
      ...{ started_at: new Date(machine.rentalAt!), running_at: at(machine.runningAt) },
      ...{
        ended_at: at(machine.endedAt),
        settled_at: at(machine.settledAt),
        closed_at: at(machine.settledAt),
      },
      status: (statuses as Record<string, 'running' | 'failed'>)[fate] ?? 'stopped',
      error: fate === 'never came up' ? 'It did not answer.' : null,
      stop_reason: fate === 'lost' ? 'pod_lost' : null,
    });
    if (fate === 'lost') {
      await database.db('lost_machines').insert({
        ...{ rental_no: rental.no, last_alive_at: at(machine.endedAt)!, settled_at: at(machine.settledAt)! },
      });
    }
    return rental;
  }

  async function count(now = NOW): Promise<void> {
    for (const hours of await listHoursToCount(db, new Date(now))) await countHours(db, hours, new Date(now));
    await sumHours(db, new Date(now));
  }

  async function told(): Promise<
    Record<string, Omit<ReliabilityRow, 'counted_at' | 'provider_code' | 'family'>>
  > {
    const rows = await db('reliability');
    return Object.fromEntries(
      rows.map(({ provider_code, family, counted_at: countedAt, ...rest }) => {
        assert.ok(countedAt instanceof Date);
        return [`${provider_code} ${family}`, rest];
      }),
    );
  }

  /** The same, computed one machine at a time from what the test knows. */
  function expected(machines: readonly Machine[], now = NOW) {
    const nowHour = Math.floor(now / HOUR) * HOUR;
    const since = nowHour - 30 * DAY;
    const isIn = (ms: number | undefined): boolean => ms !== undefined && ms >= since && ms < nowHour + HOUR;
    const sums: Record<string, unknown> = {};
    for (const pair of listings.keys()) {
      const own = machines.filter(({ provider, family }) => `${provider} ${family}` === pair);
      const up = own.filter(({ runningAt }) => isIn(runningAt));
      const ready = up.map((m) => Math.ceil((m.runningAt! - Math.max(m.askedAt, m.rentalAt!)) / SECOND));
      const ssh = up.map((m) => Math.ceil(((m.answeredAt ?? m.runningAt!) - m.askedAt) / SECOND));
      const failed = own.filter(
        ({ fate, settledAt }) => ['no capacity', 'never came up'].includes(fate) && isIn(settledAt),
      );
      const lost = own.filter(({ fate, settledAt }) => fate === 'lost' && isIn(settledAt));
      let machineMs = 0;
      for (const { runningAt, endedAt } of own) {
        if (runningAt === undefined) continue;
        machineMs += Math.max(0, Math.min(endedAt ?? now, nowHour + HOUR) - Math.max(runningAt, since));
      }
      if (up.length + failed.length + lost.length === 0 && machineMs === 0) continue;
      sums[pair] = {
        created: up.length,
        not_created: failed.length,
        ready_p50_seconds: nearestRank(ready, 0.5),
        ready_p90_seconds: nearestRank(ready, 0.9),
        ssh_p50_seconds: nearestRank(ssh, 0.5),
        ssh_p90_seconds: nearestRank(ssh, 0.9),
        losses: lost.length,
        machine_ms: machineMs,
      };
    }
    return sums;
  }

  /** A machine that came up at this instant, half a minute after it was asked for, and ran for an hour. */
  function ran(runningAt: number, over: Partial<Machine> = {}): Machine {
    return {
      provider: 'lab',
      family: 'rtx-4090',
      askedAt: runningAt - 31_000,
      rentalAt: runningAt - 30_600,
      answeredAt: runningAt - 999,
      runningAt,
      endedAt: runningAt + HOUR,
      settledAt: runningAt + HOUR + 100,
      fate: 'stopped',
      ...over,
    };
  }
  const lately = NOW - 5 * HOUR;

  it('is empty where nothing was ever rented', async () => {
    await count();
    assert.deepEqual(await told(), {});
  });

  for (const seed of [1, 2, 3]) {
    it(`agrees with a count of one machine after the other, seed ${seed}`, async () => {
      const random = chancesOf(seed);
      const own = Array.from({ length: 150 }, () => randomMachine(random));
      for (const machine of own) await insert(machine);
      await count();
      assert.deepEqual(await told(), expected(own));
      await count();
      assert.deepEqual(await told(), expected(own), 'a second count changes nothing');
    });
  }

  it('counts the borders of an hour once, and the borders of the thirty days', async () => {
    const since = Math.floor(NOW / HOUR) * HOUR - 30 * DAY;
    const machines = [ran(since), ran(since - 1), ran(since + HOUR)];
    for (const machine of machines) await insert(machine);
    await count();
    assert.deepEqual(await told(), expected(machines));
    assert.equal((await told())['lab rtx-4090']?.created, 2);
  });

  it('does not blame an upstream for a stop of the renter, nor for what we refused or could not pay', async () => {
    const never = { runningAt: undefined, answeredAt: undefined };
    await insert(ran(lately));
    for (const fate of ['stopped before', 'ours', 'no capacity', 'never came up'] as const) {
      await insert(ran(lately, { ...never, fate }));
    }
    await count();
    const { created, not_created: failed, losses } = (await told())['lab rtx-4090']!;
    assert.deepEqual([created, failed, losses], [1, 2, 0]);
  });

  it('does not blame an upstream for what a renter’s own software did', async () => {
    const never = { runningAt: undefined, answeredAt: undefined };
    await insert(ran(lately));
    for (const fate of ['no capacity', 'never came up'] as const)
      await insert(ran(lately, { ...never, fate }));
    const software = { image: 'example/broken:1' } as unknown as SoftwareOutline;
    const terms = { familyId: 'rtx-4090', gpuCount: 1, templateId: 'ubuntu-24-04', region: null };
    const limits = { autoStopAfterMs: null, maxSpendCents: null, maxPricePerHourCents: null };
    const request = { ...terms, ...limits, userId, sshKeyIds: [], name: null, software };
    for (const { rental_id: id } of await database.db('allocation_attempts').whereNull('answered_at')) {
      await insertRentalRequest(database.db, id, request, new Date('2099-01-01T00:00:00.000Z'), null);
    }
    await database.db('rentals').where({ status: 'failed' }).update({ software });
    await count();
    const { created, not_created: failed } = (await told())['lab rtx-4090']!;
    assert.deepEqual([created, failed], [1, 0]);
  });

  it('takes in a machine whose loss was noticed long after it, and takes back the hours it seemed to run', async () => {
    const lost = ran(lately, { fate: 'lost', endedAt: NOW - 2 * HOUR, settledAt: NOW + 1 });
    const rental = await insert({ ...lost, fate: 'runs', endedAt: undefined, settledAt: undefined });
    await count();
    assert.equal((await told())['lab rtx-4090']?.machine_ms, NOW - lost.runningAt!);
    const over = {
      ended_at: at(lost.endedAt),
      settled_at: at(lost.settledAt),
      closed_at: at(lost.settledAt),
    };
    await database
      .db('rentals')
      .where({ no: rental!.no })
      .update({ ...over, status: 'stopped' });
    await database.db('lost_machines').insert({
      rental_no: rental!.no,
      last_alive_at: at(lost.endedAt)!,
      settled_at: at(lost.settledAt)!,
    });
    await count(NOW + 60_000);
    assert.deepEqual(await told(), expected([lost], NOW + 60_000));
  });

  it('goes on where it stood after a pause of days', async () => {
    const machines = [ran(NOW - 9 * DAY), ran(NOW - 2 * DAY), ran(lately)];
    await insert(machines[0]!);
    await count(NOW - 7 * DAY);
    for (const machine of machines.slice(1)) await insert(machine);
    await count();
    assert.deepEqual(await told(), expected(machines));
  });

  it('forgets a family of which thirty days tell nothing', async () => {
    await insert(ran(lately));
    await count();
    await count(NOW + 31 * DAY);
    assert.deepEqual(await told(), {});
  });

  it('counts thirty days at most, in parts of a few hours', async () => {
    const parts: Hours[] = await listHoursToCount(db, new Date(NOW));
    const hours = parts.map(({ from, to }) => (to.getTime() - from.getTime()) / HOUR);
    assert.ok(hours.every((each) => each >= 1 && each <= 6));
    assert.equal(
      hours.reduce((sum, each) => sum + each, 0),
      30 * 24 + 1,
    );
    assert.equal(parts.at(-1)?.to.getTime(), Math.floor(NOW / HOUR) * HOUR + HOUR);
  });

  it('goes on where it was, although its clock was once a day ahead', async () => {
    const hourOf = (ms: number) => new Date(Math.floor(ms / HOUR) * HOUR);
    const counted = {
      ...{ provider_code: 'lab', family: 'rtx-4090', created: 0, not_created: 1, losses: 0, machine_ms: 0 },
      ...{ ready_seconds: [], ssh_seconds: [] },
    };
    await database.db('reliability_hours').insert([
      { ...counted, hour: hourOf(NOW - HOUR) },
      { ...counted, hour: hourOf(NOW + DAY) },
    ]);
    const parts = await listHoursToCount(db, new Date(NOW));
    assert.ok(parts[0] && parts[0].from <= hourOf(NOW - HOUR), JSON.stringify(parts));
    assert.equal(parts.at(-1)?.to.getTime(), hourOf(NOW).getTime() + HOUR);
  });
});

/** The smallest value that so large a share of the values does not exceed. */
function nearestRank(values: readonly number[], share: number): number | null {
  return values.toSorted((a, b) => a - b)[Math.ceil(share * values.length) - 1] ?? null;
}

/** Numbers from 0 to 1 that are the same each time. */
function chancesOf(seed: number): () => number {
  const numbers = fc.sample(fc.nat(999_999), { seed, numRuns: 5_000 });
  const state = { taken: 0 };
  return () => {
    state.taken += 1;
    return (numbers[state.taken % numbers.length] ?? 0) / 1_000_000;
  };
}

function randomMachine(random: () => number): Machine {
  const between = (from: number, to: number): number => Math.floor(from + random() * (to - from));
  const pick = <T>(all: readonly T[]): T => all[between(0, all.length)]!;
  const provider = pick(['lab', 'other']);
  const family = pick(['rtx-4090', 'b200']);
  // Often on the border of an hour, and sometimes before the thirty days.
  const asked = between(NOW - 33 * DAY, NOW - 2 * HOUR);
  const askedAt = random() < 0.3 ? Math.floor(asked / HOUR) * HOUR : asked;
  const fate = pick<Machine['fate']>([
    ...(['runs', 'stopped', 'stopped', 'lost', 'never came up'] as const),
    ...(['stopped before', 'no capacity', 'ours'] as const),
  ]);
  // A machine in place of one that did not come is asked for after the rental was.
  const rentalAt = random() < 0.4 ? askedAt - 1_800_000 : askedAt + between(0, 2_000);
  if (fate === 'no capacity' || fate === 'ours') {
    return { provider, family, askedAt, fate, settledAt: askedAt + between(0, 5_000) };
  }
  const comesUpAt = Math.max(askedAt, rentalAt) + between(1, 900) * SECOND + pick([0, 1, 999]);
  if (fate === 'stopped before' || fate === 'never came up') {
    return { provider, family, askedAt, rentalAt, fate, endedAt: comesUpAt, settledAt: comesUpAt };
  }
  const up = { provider, family, askedAt, rentalAt, runningAt: comesUpAt, fate };
  const answered = random() < 0.2 ? up : { ...up, answeredAt: comesUpAt - between(0, 1_000) };
  if (fate === 'runs') return answered;
  const endedAt = Math.min(NOW, comesUpAt + between(0, 5 * DAY));
  return { ...answered, endedAt, settledAt: Math.min(NOW, endedAt + between(0, 2 * HOUR)) };
}
