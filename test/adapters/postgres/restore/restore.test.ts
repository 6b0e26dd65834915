import assert from 'node:assert/strict';
import { findApiKey, wakeApiKeys } from '../../../../adapters/postgres/accounts/api-keys.js';
import { wakePasskeys } from '../../../../adapters/postgres/accounts/passkeys.js';
import { newId } from '../../../../adapters/ids.js';
import {
  endAtPast,
  endRestoredSessions,
  insertLostTopup,
  releaseUnknownPods,
  resume as resumeRun,
  listUnknownPods,
  lowerLimit,
} from '../../../../adapters/postgres/restore/restore.js';
import { keepItems, keepReport } from '../../../../adapters/postgres/restore/items.js';
import { advanceMetering } from '../../../../money/rentals/lifecycle.js';
import type { EndedBy } from '../../../../domain/operations/lost-time.js';
import { tick } from '../../../../money/metering/tick.js';
import {
  confirmDatabase,
  isDatabaseConfirmed,
  raiseWatermark,
} from '../../../../adapters/postgres/restore/watermark.js';
import { openDatabase, type Database } from '../../../../adapters/postgres/database.js';
import type { OperationId, RentalId } from '../../../../domain/ids.js';
import { finalCents } from '../../../../domain/metering/metering.js';
import { databaseRoles } from '../../../../migrations/roles.js';
import type { RestoreReport } from '../../../../domain/operations/restore.js';
import {
  billedMs,
  getRental,
  insertRunning,
  insertWallet,
  openMoneyDatabase,
  type MoneyDatabase,
} from '../../../support/money/money.js';
import {
  insertApiKeyOf,
  insertProvider,
  insertSessionOf,
  insertUser,
} from '../../../support/money/factories.js';
import { placeOrder } from '../../../support/ops/operators.js';

const unknownPod = {
  providerCode: 'lab',
  podId: 'pod-1',
  tag: 't-1',
  status: 'active',
  pricePerHourCents: 40,
};
const report: RestoreReport = {
  ...{ database: 'restored', watermark: 1, raisedAt: new Date(0).toISOString(), keptInTemporal: 61 },
  ...{ lostMinutes: 60, ended: [], goingOn: 0, withoutRun: [], lost: [], silentUpstreams: [] },
  ...{ unknownPods: [unknownPod], missingPayments: [] },
};
const reconcile = { kind: 'reconcile_restored', withoutSilentUpstreams: false } as const;
const by = { operator: 'ada', reason: 'disk failed' };
const done = { endedRentals: 0, credited: [], parked: [], listedPods: 1 };

/** Goes on with a report whose items are rows of a run, as a look leaves them. */
async function resume(
  db: Database,
  order: OperationId,
  told: Pick<Parameters<typeof resumeRun>[2], 'kept' | 'report' | 'done'>,
): Promise<number> {
  await keepReport(db, order, told.report);
  return resumeRun(db, order, { ...told, runId: order });
}

describe('reconciling a restored database, step by step and twice', () => {
  let money: MoneyDatabase;
  let db: Database;
  beforeEach(async () => {
    money = await openMoneyDatabase();
    db = money.db;
  });
  afterEach(() => money.close());

  it('ends a rental at an instant that is past, and charges it up to then', async () => {
    const wallet = await insertWallet(db, 10_000);
    const id = await insertRunning(db, wallet, { priceCents: 3_600, ranMs: 3_600_000 });
    const at = new Date((await getRental(db, id)).running_at!.getTime() + 600_000);
    await endAtPast(db, { rentalId: id, endedAt: at.toISOString() }, 'its run had ended');
    const later = new Date(at.getTime() + 60_000).toISOString();
    await endAtPast(db, { rentalId: id, endedAt: later }, 'again, and later');
    await tick(db, { shard: 0, shards: 1 });
    const rental = await getRental(db, id);
    assert.deepEqual([rental.status, rental.ended_at], ['stopping', at]);
    assert.equal(rental.charged_cents, finalCents(3_600, billedMs(rental), null));
  });

  const ends: [
    by: EndedBy,
    seconds: number,
    expected: [reason: string | null, status: string, seconds: number],
  ][] = [
    ['user', 600, ['user', 'stopping', 600]],
    ['operator', 600, ['operator', 'stopping', 600]],
    ['limit', 600, ['auto_stop', 'stopping', 600]],
    ['lost', 600, ['pod_lost', 'stopping', 600]],
    ['lost', 50, [null, 'failed', 50]],
  ];
  for (const [by, seconds, [reason, status, endedAfter]] of ends) {
    it(`tells an end by ${by} after ${seconds} s as what it was, and wakes its run`, async () => {
      const wallet = await insertWallet(db, 10_000);
      const id = await insertRunning(db, wallet, { priceCents: 3_600, ranMs: 3_600_000 });
      await insertProvider(db);
      await insertPod(db, id);
      const began = (await getRental(db, id)).running_at!.getTime();
      const endedAt = new Date(began + seconds * 1_000).toISOString();
      await endAtPast(db, { rentalId: id, endedAt, by }, 'the disk failed');
      const [intent] = await db('intents');
      assert.equal(intent?.kind, by === 'lost' ? 'pod_lost' : 'end_rental');
      await advanceMetering(db, id, 1_000);
      const rental = await getRental(db, id);
      const after = billedMs(rental) / 1_000;
      assert.deepEqual([rental.stop_reason, rental.status, after], [reason, status, endedAfter]);
    });
  }

  it('lowers a limit that was lowered in the lost time, and raises none', async () => {
    const wallet = await insertWallet(db, 100_000);
    const id = await insertRunning(db, wallet, {
      priceCents: 3_600,
      ranMs: 1_000,
      autoStopAfterMs: 7_200_000,
    });
    const { running_at: began, auto_stop_at: limit } = await getRental(db, id);
    const there = new Date(began!.getTime() + 3_600_000);
    await lowerLimit(db, { rentalId: id, there: there.toISOString() });
    await lowerLimit(db, { rentalId: id, there: limit!.toISOString() });
    assert.deepEqual((await getRental(db, id)).auto_stop_at, there);
  });

  it('keeps a finding of each bill that differs from the one that was shown, once', async () => {
    const rentalId = newId('rent');
    const differs = { formulaCents: 17, toldCents: 16, billCents: 16 };
    const ended = [
      { rentalId, status: 'running', endedAt: new Date(0).toISOString(), by: 'user' as const, differs },
      { rentalId: newId('rent'), status: 'running', endedAt: new Date(0).toISOString() },
    ];
    const order = await placeOrder(db, reconcile);
    for (const kept of [61, 62]) await resume(db, order, { kept, report: { ...report, ended }, done });
    const findings = await db('reconcile_findings');
    assert.deepEqual(
      findings.map(({ kind, subject, state, evidence }) => [kind, subject, state, evidence['toldCents']]),
      [['restored_bill_differs', rentalId, 'open', 16]],
    );
  });

  it('takes an earlier end than the one that was asked for', async () => {
    const wallet = await insertWallet(db, 10_000);
    const id = await insertRunning(db, wallet, { priceCents: 3_600, ranMs: 3_600_000 });
    const { no, running_at: began } = await getRental(db, id);
    await db('stop_requests').insert({ rental_no: no, requested_by: 'user' });
    const at = new Date(began!.getTime() + 600_000);
    await endAtPast(db, { rentalId: id, endedAt: at.toISOString() }, 'its run had ended');
    assert.deepEqual((await db('stop_requests').first())?.requested_at, at);
  });

  it('goes on above Temporal’s watermark, and records it once', async () => {
    await confirmDatabase(db, 61);
    const order = await placeOrder(db, reconcile);
    assert.equal(await resume(db, order, { kept: 61, report, done }), 62);
    assert.equal(await isDatabaseConfirmed(db), true);
    assert.equal(await resume(db, order, { kept: 62, report, done }), 63);
    assert.equal((await db('operator_actions')).length, 1);
    assert.deepEqual(await db('brakes'), []);
  });

  it('ends the sessions that came back, once, and none that was begun since', async () => {
    const { user_id: userId } = await insertWallet(db, 0);
    const { user_id: other } = await insertWallet(db, 0);
    for (const id of [userId, userId, other]) await insertSessionOf(db, id);
    await db('sessions').update({ created_at: db.raw(`created_at - interval '1 hour'`) });
    const back = await db('sessions').orderBy('id').select('id', 'user_id');
    await confirmDatabase(db, 61);
    // Users can still stop their machines: no mail leaves by which they could sign in.
    assert.equal((await db('sessions')).length, 3);
    await insertSessionOf(db, other);
    const order = await placeOrder(db, reconcile);
    await resume(db, order, { kept: 61, report, done });
    const left = await db('sessions');
    assert.deepEqual([left.length, left[0]!.user_id], [1, other]);
    const told = await db('event_outbox').where({ type: 'session.ended' }).orderBy('no');
    assert.deepEqual(
      told.map(({ user_id, entity_id, data }) => [user_id, entity_id, data]),
      back.map(({ user_id, id }) => [user_id, id, { by: 'restored' }]),
    );
    await resume(db, order, { kept: 62, report, done });
    assert.equal((await db('sessions')).length, 1);
  });

  it('ends any number of sessions batch by batch, and tells of each', async () => {
    const { user_id: userId } = await insertWallet(db, 0);
    for (let n = 0; n < 5; n++) await insertSessionOf(db, userId);
    await db('sessions').update({ created_at: db.raw(`created_at - interval '1 hour'`) });
    const ids = await db('sessions').orderBy('id').pluck('id');
    await confirmDatabase(db, 61);
    await insertSessionOf(db, userId);
    const heard: number[] = [];
    const dying = (): never => {
      throw new Error('the process dies');
    };
    await assert.rejects(endRestoredSessions(db, dying, 2), /dies/);
    await endRestoredSessions(db, ({ endedSessions }) => heard.push(endedSessions), 2);
    assert.deepEqual(heard, [2, 3]);
    assert.equal((await db('sessions')).length, 1);
    const told = db('event_outbox').where({ type: 'session.ended' }).orderBy('no');
    assert.deepEqual(await told.pluck('entity_id'), ids);
  });

  it('lets all API keys rest at once, and each owner’s again when they sign in, and never anew', async () => {
    const [{ user_id: owner }, { user_id: other }] = [await insertWallet(db, 0), await insertWallet(db, 0)];
    const { token } = await insertApiKeyOf(db, owner);
    const { token: others } = await insertApiKeyOf(db, other);
    const { row: revoked } = await insertApiKeyOf(db, owner);
    await db('api_keys')
      .where({ id: revoked.id })
      .update({ revoked_at: db.raw('clock_ms()') });
    const found = async (text: string) => (await findApiKey(db, text, '192.0.2.1')).is;
    await confirmDatabase(db, 61);
    assert.deepEqual([await found(token), await found(others)], ['suspended', 'suspended']);
    assert.equal((await db('api_keys').where({ id: revoked.id }).first('suspended_at'))?.suspended_at, null);
    await db.transaction((trx) => wakeApiKeys(trx, owner));
    // Whoever compares again finds the same brake.
    await confirmDatabase(db, 61);
    assert.deepEqual([await found(token), await found(others)], ['live', 'suspended']);
    const order = await placeOrder(db, reconcile);
    await resume(db, order, { kept: 61, report, done });
    assert.deepEqual([await found(token), await found(others)], ['live', 'suspended']);
  });

  it('lets all passkeys rest once: some may have been removed in the lost time', async () => {
    const { user_id: owner } = await insertWallet(db, 0);
    const key = { credential_id: Buffer.from('c'), public_key: Buffer.from('p'), counter: 0, transports: [] };
    const kept = { ...key, name: 'x', backup_eligible: true, backed_up: true };
    await db('passkeys').insert({ id: newId('psk'), user_id: owner, ...kept });
    const isResting = async () => (await db('passkeys').first('suspended_at'))!.suspended_at !== null;
    await confirmDatabase(db, 61);
    assert.equal(await isResting(), true);
    await db.transaction((trx) => wakePasskeys(trx, owner));
    await confirmDatabase(db, 61);
    assert.equal(await isResting(), false);
  });

  it('needs no more rights than the worker, the API and the operators have', async () => {
    const as = (role: string): Database => openDatabase(money.url, 1, 'test-role', role);
    const [worker, api, ops] = [
      as(databaseRoles.worker),
      as(databaseRoles.api),
      as(databaseRoles.ops),
    ] as const;
    try {
      await raiseWatermark(worker);
      assert.equal(await confirmDatabase(worker, 61), 'restored');
      assert.equal(await isDatabaseConfirmed(api), false);
      const order = await placeOrder(db, reconcile);
      await insertSessionOf(db, (await insertUser(db)).id);
      await db('sessions').update({ created_at: db.raw(`created_at - interval '1 hour'`) });
      await resume(worker, order, { kept: 61, report, done });
      assert.equal(await isDatabaseConfirmed(api), true);
      assert.deepEqual(await db('sessions'), []);
      assert.equal(await releaseUnknownPods(ops, ['pod-1'], by), 1);
      await assert.rejects(api.raw('select step_over_lost_numbers()'), /permission denied/);
    } finally {
      await Promise.all([worker, api, ops].map((db) => db.destroy()));
    }
  });

  it('gives no number again that was given in the lost time', async () => {
    await db('mail_outbox').insert(mailOf('before'));
    await confirmDatabase(db, 61);
    const order = await placeOrder(db, reconcile);
    await resume(db, order, { kept: 61, report, done });
    await db('mail_outbox').insert(mailOf('after'));
    const [before, after] = await db('mail_outbox').orderBy('id').select('id');
    assert.ok(after!.id - before!.id >= 1_000_000, `${after!.id} after ${before!.id}`);
  });

  it('keeps unknown machines until a human releases them', async () => {
    const order = await placeOrder(db, reconcile);
    await resume(db, order, { kept: 1, report, done });
    assert.deepEqual(
      (await listUnknownPods(db)).map(({ pod_id }) => pod_id),
      ['pod-1'],
    );
    assert.equal(await releaseUnknownPods(db, ['pod-1'], by), 1);
    assert.equal(await releaseUnknownPods(db, ['pod-1'], by), 0);
    assert.deepEqual(await listUnknownPods(db), []);
    const byNobody = { provider_code: 'lab', pod_id: 'pod-2', tag: 't-2', released_at: new Date() };
    await assert.rejects(db('unknown_pods').insert(byNobody), { constraint: 'unknown_pods_released' });
  });

  it('keeps what a run found once, each by one of its kinds', async () => {
    for (const pricePerHourCents of [1, 2]) {
      await keepItems(db, 'run', 'pod', [{ ...unknownPod, pricePerHourCents }]);
    }
    assert.deepEqual(
      (await db('restore_items')).map(({ kind, id, item }) => [kind, id, item]),
      [['pod', 'lab pod-1', { ...unknownPod, pricePerHourCents: 1 }]],
    );
    const odd = { run_id: 'run', kind: 'odd' as 'pod', id: 'x', item: '{}' };
    await assert.rejects(db('restore_items').insert(odd), { constraint: 'restore_items_kind' });
  });

  it('writes the row of a lost top-up once, and none of an amount that no top-up has', async () => {
    const { user_id: userId } = await insertWallet(db, 0);
    const topup = { topupId: newId('top'), userId, amountCents: 2_500, chargedAt: null };
    await insertLostTopup(db, topup);
    await insertLostTopup(db, topup);
    await insertLostTopup(db, { ...topup, topupId: newId('top'), amountCents: 99 });
    assert.equal((await db('topups')).length, 1);
  });
});

async function insertPod(db: Database, id: RentalId): Promise<void> {
  await db('pods').insert({
    ...{ provider_code: 'lab', pod_id: `pod-${id}`, tag: `test-${id}-1`, status: 'active' },
    ...{ upstream_status: 'active', first_seen_at: db.raw('clock_ms()') },
  });
}

function mailOf(cause: string) {
  return { cause, recipient: 'a@example.com', subject: 's', body: 'b', wipe_after_sending: false };
}
