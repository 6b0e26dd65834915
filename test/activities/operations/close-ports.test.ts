import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import type { WalletRow } from '../../../adapters/postgres/rows/tables.js';
import type { OperationId, RentalId } from '../../../domain/ids.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';
import { insertRental } from '../../support/money/factories.js';
import { getRental, insertWallet } from '../../support/money/money.js';
import { placeOrder } from '../../support/ops/operators.js';

const web = { name: 'web', port: 80, kind: 'http', public: true };
const closed = { name: 'db', port: 5432, kind: 'tcp', public: false };

/** Decision 184, "Ports closed by operators". */
describe('the public ports of a rental that an operator closes', () => {
  let lone: LoneActivities;
  let wallet: WalletRow;
  const looked: string[] = [];
  before(async () => {
    const workflow = {
      signalWithStart: (_: unknown, { workflowId }: { workflowId: string }) =>
        Promise.resolve(looked.push(workflowId)),
    };
    lone = await startActivities({ temporal: { workflow } });
  });
  beforeEach(async () => {
    wallet = await insertWallet(lone.db, 1_000);
  });
  after(() => lone.close());

  async function rent(ports: readonly object[], columns: object = {}): Promise<RentalId> {
    const software = JSON.stringify({ ports }) as never;
    const rental = { software, name: 'shop', status: 'running', running_at: new Date(), ...columns } as const;
    return (await insertRental(lone.db, wallet.user_id, rental)).id;
  }

  const order = (rentalId: RentalId) => placeOrder(lone.db, { kind: 'close_ports', rentalId });
  const run = (operationId: OperationId) => lone.run('operate', { operationId });
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
    assert.equal(mail?.subject, 'We closed public ports of yours and stopped a rental');
    assert.ok(mail.body?.includes(`shop (${rentalId}): web.\n${reason}`), mail.body ?? '');
    assert.deepEqual(more, []);
    const audit = await db('audit_events').where({ user_id: wallet.user_id, entity_id: operationId });
    assert.deepEqual(
      audit.map(({ kind }) => kind),
      ['changed_by_operator'],
    );
    const action = await db('operator_actions').where({ id: operationId }).first();
    assert.deepEqual(action?.result, { rentalId, was: 'running', ports: 'web' });
    assert.ok(looked.includes(rentalId));
  });

  for (const [what, ports, columns, code] of [
    ['that has none', [closed], {}, 'validation_failed'],
    [
      'that is over',
      [web],
      { status: 'failed', error: 'none', running_at: null, ended_at: new Date(), settled_at: new Date() },
      'already_stopped',
    ],
  ] as const) {
    it(`are refused for one ${what}, and nothing is written`, async () => {
      const rentalId = await rent(ports, columns);
      const operationId = await order(rentalId);
      assert.deepEqual(await run(operationId), { outcome: 'refused', code });
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
