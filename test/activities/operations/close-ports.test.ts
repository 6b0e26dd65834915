import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { insertAttempt, moveAttempt } from '../../../adapters/postgres/machines/attempts.js';
import { insertStopRequest } from '../../../adapters/postgres/rentals/stop-requests.js';
import type { WalletRow } from '../../../adapters/postgres/rows/tables.js';
import { ProviderError } from '../../../adapters/providers/provider.js';
import type { OperationId, RentalId } from '../../../domain/ids.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';
import { ScriptedUpstream } from '../../support/activities/scripted-upstream.js';
import { insertProvider, insertRental } from '../../support/money/factories.js';
import { getRental, insertWallet } from '../../support/money/money.js';
import { placeOrder } from '../../support/ops/operators.js';

const web = { name: 'web', port: 80, kind: 'http', public: true };
const closed = { name: 'db', port: 5432, kind: 'tcp', public: false };

const begun = { started_at: new Date(Date.now() - 60_000), running_at: new Date(Date.now() - 60_000) };
const ended = { status: 'stopping', ended_at: new Date(), stop_reason: 'user' } as const;

/** Decision 180, "Ports closed by operators". */
describe('the public ports of a rental that an operator closes', () => {
  let lone: LoneActivities;
  let wallet: WalletRow;
  const looked: string[] = [];
  const upstream = new ScriptedUpstream();
  before(async () => {
    const workflow = {
      signalWithStart: (_: unknown, { workflowId }: { workflowId: string }) =>
        Promise.resolve(looked.push(workflowId)),
    };
    lone = await startActivities({ temporal: { workflow }, providers: new Map([['lab', upstream.port]]) });
    await insertProvider(lone.db);
  });
  beforeEach(async () => {
    upstream.reset();
    looked.length = 0;
    wallet = await insertWallet(lone.db, 1_000);
  });
  after(() => lone.close());

  async function rent(ports: readonly object[], columns: object = {}): Promise<RentalId> {
    const software = JSON.stringify({ ports }) as never;
    const rental = { software, name: 'shop', status: 'running', ...begun, ...columns } as const;
    const { id, tag } = await insertRental(lone.db, wallet.user_id, { pod_id: 'pod', ...rental });
    const bought = { rentalId: id, deployment: 'test', providerCode: 'lab', listingId: newId('lst') };
    const terms = { offerId: 'offer', pricePerHourCents: 50, endBy: null, deadlineMs: 60_000 };
    const attempt = await insertAttempt(lone.db, { ...bought, ...terms });
    await moveAttempt(lone.db, attempt.id, 'open', 'adopted', { podId: `pod-${tag}` });
    await lone
      .db('rentals')
      .where({ id })
      .update({ pod_id: `pod-${tag}` });
    return id;
  }

  const order = (rentalId: RentalId) => placeOrder(lone.db, { kind: 'close_ports', rentalId });
  const run = (operationId: OperationId) => lone.run('operate', { operationId });
  const mails = () =>
    lone
      .db('mail_outbox')
      .whereIn('recipient', lone.db('users').where({ id: wallet.user_id }).select('email'));
  const orderOf = (id: OperationId) => lone.db('operator_orders').where({ id }).first();

  it('end with it: it is asked to stop, its renter is told, and who did it is kept, once', async () => {
    const rentalId = await rent([web, closed]);
    const operationId = await order(rentalId);
    for (let attempt = 0; attempt < 2; attempt += 1)
      assert.deepEqual(await run(operationId), { outcome: 'done' });
    const { db } = lone;
    const { no } = await getRental(db, rentalId);
    const stops = await db('stop_requests').where({ rental_no: no });
    const { reason } = (await orderOf(operationId))!;
    assert.deepEqual(
      stops.map((stop) => [stop.requested_by, stop.reason]),
      [['operator', reason]],
    );
    const events = await db('event_outbox').where({ entity_id: rentalId });
    assert.deepEqual(
      events.map(({ type, data }) => [type, data]),
      [['rental.ports_closed', { ports: ['web'] }]],
    );
    const { email } = (await db('users').where({ id: wallet.user_id }).first())!;
    const [mail, ...more] = await db('mail_outbox').where({ recipient: email });
    assert.equal(mail?.subject, 'We closed your rental’s public ports and stopped it');
    assert.ok(mail.body?.includes(`shop (${rentalId}): web.\n${reason}`), mail.body ?? '');
    assert.deepEqual(more, []);
    const audit = await db('audit_events').where({ user_id: wallet.user_id, entity_id: operationId });
    assert.deepEqual(
      audit.map(({ kind }) => kind),
      ['changed_by_operator'],
    );
    const action = await db('operator_actions').where({ id: operationId }).first();
    assert.deepEqual(action?.result, { rentalId, was: 'running', ports: 'web' });
    assert.deepEqual(looked, [rentalId]);
  });

  it('have its machine told to end now, whatever its workflow waits for, and the order says so', async () => {
    const rentalId = await rent([web]);
    const { tag } = await getRental(lone.db, rentalId);
    const operationId = await order(rentalId);
    await run(operationId);
    assert.deepEqual(upstream.asked, [['terminate', `pod-${tag}`]]);
    const { result } = (await orderOf(operationId))!;
    const told = `lab pod-${tag} was told to end`;
    assert.deepEqual(result, { rentalId, was: 'running', ports: 'web', machines: 1, told });
  });

  it('are said to be served still where the upstream refuses', async () => {
    upstream.terminated = () => Promise.reject(new ProviderError('refused', 'it is down'));
    const rentalId = await rent([web]);
    const operationId = await order(rentalId);
    assert.deepEqual(await run(operationId), { outcome: 'done' });
    assert.match(String((await orderOf(operationId))?.result?.['told']), /could not be told: .*it is down/);
  });

  it('tell a renter of no bill where billing had not begun', async () => {
    const rentalId = await rent([web], { status: 'provisioning', running_at: null });
    await run(await order(rentalId));
    assert.deepEqual(
      (await mails()).map(({ body }) => body?.includes('You pay')),
      [false],
    );
  });

  it('are told once where a worker dies on the way, though the rental has ended meanwhile', async () => {
    const rentalId = await rent([web]);
    const operationId = await order(rentalId);
    upstream.terminated = () => Promise.reject(new Error('the worker dies'));
    await assert.rejects(run(operationId), /the worker dies/);
    assert.equal((await orderOf(operationId))?.status, 'requested');
    await lone.db('rentals').where({ id: rentalId }).update(ended);
    upstream.terminated = () => Promise.resolve();
    assert.deepEqual(await lone.runAgain('operate', { operationId }), { outcome: 'done' });
    assert.equal((await mails()).length, 1);
    assert.deepEqual(upstream.names, ['terminate', 'terminate']);
  });

  it('are told once by two orders, one after the other or at once', async () => {
    for (const isAtOnce of [false, true]) {
      const rentalId = await rent([web]);
      await insertStopRequest(lone.db, (await getRental(lone.db, rentalId)).no, 'user');
      const [one, two] = [await order(rentalId), await order(rentalId)];
      const first = run(one);
      if (!isAtOnce) await first;
      const outcomes = await Promise.all([first, run(two)]);
      assert.deepEqual(outcomes.map(({ outcome }) => outcome).sort(), ['done', 'refused']);
      const told = await lone.db('event_outbox').where({ entity_id: rentalId });
      assert.equal(told.length, 1);
      const refused = (await Promise.all([one, two].map(orderOf))).find((row) => row?.status === 'refused');
      assert.deepEqual(
        [refused?.code, /^op_.* force-terminate/.test(refused?.message ?? '')],
        ['already_stopped', true],
      );
    }
  });

  for (const [what, ports, columns, code] of [
    ['that has none', [closed], {}, 'validation_failed'],
    [
      'that is over',
      [web],
      { status: 'failed', error: 'none', running_at: null, ended_at: new Date(), settled_at: new Date() },
      'already_stopped',
    ],
    ['whose billing has ended', [web], ended, 'already_stopped'],
  ] as const) {
    it(`are refused for one ${what}, and nothing is written`, async () => {
      const rentalId = await rent(ports, columns);
      const operationId = await order(rentalId);
      for (let attempt = 0; attempt < 2; attempt += 1)
        assert.deepEqual(await run(operationId), { outcome: 'refused', code });
      assert.deepEqual([upstream.asked, looked], [[], []]);
      assert.deepEqual(await lone.db('event_outbox').where({ entity_id: rentalId }), []);
      assert.equal((await orderOf(operationId))?.status, 'refused');
    });
  }

  it('are refused for a rental that does not exist', async () => {
    assert.deepEqual(await run(await order(newId('rent'))), {
      outcome: 'refused',
      code: 'rental_not_found',
    });
  });
});
