import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { newId } from '../../adapters/ids.js';
import { openDatabase, type Database } from '../../adapters/postgres/database.js';
import { insertAttempt } from '../../adapters/postgres/machines/attempts.js';
import {
  createMachineDesk,
  insertMachineToken,
  type MachineDesk,
} from '../../adapters/postgres/machines/machine-tokens.js';
import { prune } from '../../adapters/postgres/upkeep/retention.js';
import { retention } from '../../domain/operations/retention.js';
import { databaseRoles } from '../../migrations/roles.js';
import { insertProvider, insertRental, insertUser } from '../support/money/factories.js';
import { openMoneyDatabase, type MoneyDatabase } from '../support/money/money.js';

describe('a bundle whose hour is over', () => {
  let database: MoneyDatabase;
  let db: Database;
  let worker: Database;
  let listener: Database;
  let desk: MachineDesk;
  before(async () => {
    database = await openMoneyDatabase();
    db = database.db;
    worker = openDatabase(database.url, 2, 'test-worker', databaseRoles.worker);
    listener = openDatabase(database.url, 2, 'test-listener', databaseRoles.machine);
    desk = createMachineDesk(listener);
    await insertProvider(db);
  });
  after(async () => {
    await worker.destroy();
    await listener.destroy();
    await database.close();
  });

  const ago = (minutes: number) => db.raw(`clock_ms() - ? * interval '1 minute'`, [minutes]);

  interface Told {
    /** Minutes ago. Absent: not at all. */
    readonly active?: number;
    readonly fetched?: number;
    readonly laidDown?: number;
    readonly restarted?: number;
    readonly isKept?: boolean;
  }

  async function insertMachine(told: Told): Promise<Buffer> {
    const { id: rentalId } = await insertRental(db, (await insertUser(db)).id);
    const attempt = await insertAttempt(db, {
      ...{ rentalId, deployment: 'test', providerCode: 'lab', listingId: newId('lst'), offerId: 'o' },
      ...{ pricePerHourCents: 50, endBy: null, deadlineMs: 60_000 },
    });
    const hash = randomBytes(32);
    const { isKept = false, active, fetched, laidDown = 180, restarted } = told;
    await insertMachineToken(db, {
      ...{ hash, attemptId: attempt.id, purpose: 'bundle', sealed: Buffer.from('sealed'), isKept },
    });
    await db('machine_tokens')
      .where({ token_sha256: hash })
      .update({
        created_at: ago(laidDown),
        ...(fetched !== undefined && { fetches: 1, first_fetched_at: ago(fetched) }),
      });
    const podId = `p${attempt.id}`;
    await db('allocation_attempts').where({ id: attempt.id }).update({ pod_id: podId });
    await db('pods').insert({
      ...{ provider_code: 'lab', pod_id: podId, tag: attempt.tag, first_seen_at: ago(laidDown) },
      ...{ status: active === undefined ? ('pending' as const) : ('active' as const), upstream_status: 'x' },
      ...(active !== undefined && { active_at: ago(active) }),
      ...(restarted !== undefined && { first_started_at: ago(180), started_at: ago(restarted) }),
    });
    return hash;
  }

  async function wipe(): Promise<void> {
    for (const kept of retention.filter(({ table }) => table === 'machine_tokens')) await prune(worker, kept);
  }
  const isThere = async (hash: Buffer): Promise<boolean> =>
    (await db('machine_tokens').where({ token_sha256: hash }).first())!.sealed !== null;

  const over: Record<string, Told> = {
    'nobody fetched it and its machine has run for an hour': { active: 61 },
    'it was fetched an hour ago and nobody acknowledged it': { active: 70, fetched: 61 },
    'it was fetched late': { active: 61, fetched: 5 },
    'nobody fetched it, and no list has shown its machine running for a day': { laidDown: 1_441 },
  };
  for (const [what, told] of Object.entries(over)) {
    it(`opens nothing, and is wiped, where ${what}`, async () => {
      const hash = await insertMachine(told);
      assert.equal(await desk.bundle(hash), null);
      await wipe();
      assert.equal(await isThere(hash), false);
    });
  }

  const open: Record<string, Told> = {
    'its machine is being started for hours': { laidDown: 1_430 },
    'its machine has run for less than an hour': { active: 59 },
    'it was fetched less than an hour ago': { active: 59, fetched: 58 },
  };
  for (const [what, told] of Object.entries(open)) {
    it(`opens, and stays, where ${what}`, async () => {
      const hash = await insertMachine(told);
      await wipe();
      assert.ok(await desk.bundle(hash));
    });
  }

  it('stays sealed for a restart where it is kept, and opens by nothing else', async () => {
    const resting = await insertMachine({ active: 120, isKept: true });
    const restarted = await insertMachine({ active: 120, isKept: true, restarted: 5 });
    await wipe();
    assert.deepEqual([await isThere(resting), await desk.bundle(resting)], [true, null]);
    assert.ok(await desk.bundle(restarted), 'its own hour begins with the restart');
    assert.ok(await desk.bundle(restarted));
  });
});
