import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { actDirectly } from '../../../adapters/postgres/operators/direct-actions.js';
import { listOpenClosings } from '../../../adapters/postgres/accounts/closings.js';
import type { OperationId } from '../../../domain/ids.js';
import type { DirectAction } from '../../../domain/operations/operation.js';
import { closingWorld } from '../../support/activities/closing-world.js';
import { insertRental, insertTopup } from '../../support/money/factories.js';

const reason = 'given back to Ann Zebra';

describe('what operators write about an account that closes', () => {
  const world = closingWorld();

  /** @returns the number of what was done */
  async function act(action: DirectAction) {
    const operationId = newId('op');
    await actDirectly(world.db, { operationId, operator: 'ada', reason, action });
    return operationId;
  }
  const reasonOf = async (id: OperationId) =>
    (await world.db('operator_actions').where({ id }).first())?.reason;
  const setClosing = (columns: object) =>
    world.db('account_closings').where({ user_id: world.userId }).update(columns);

  /** Puts a payment aside that names its user, or their top-up alone. */
  async function park(names: 'its user' | 'its top-up'): Promise<string> {
    const paymentId = `pi_${newId('top')}`;
    const closed = { status: 'failed', closed_at: new Date() } as const;
    const topup = await insertTopup(world.db, world.userId, closed);
    const whose = names === 'its user' ? { user_id: world.userId } : { topup_id: topup.id };
    const payment = { payment_id: paymentId, amount_cents: 500, currency: 'eur', reason: 'currency' };
    await world.db('parked_payments').insert({ ...payment, ...whose });
    return paymentId;
  }

  for (const names of ['its user', 'its top-up'] as const)
    it(`goes with it where a parked payment names ${names}`, async () => {
      const paymentId = await park(names);
      assert.deepEqual((await world.close()).waits_for, ['parked_payments']);
      const done = await act({ kind: 'resolve_parked', paymentId });
      assert.equal((await world.look()).state, 'kept');
      const parked = await world.db('parked_payments').where({ payment_id: paymentId }).first();
      assert.deepEqual([parked?.resolution, await reasonOf(done)], ['erased', 'erased']);
    });

  it('goes with it where a finding names a rental of theirs alone, and nobody else’s', async () => {
    const at = new Date();
    const ended = { status: 'stopped', ended_at: at, settled_at: at, closed_at: at, settled_seq: 0 } as const;
    const rental = await insertRental(world.db, world.userId, ended);
    const [run] = await world.db('reconcile_runs').insert({ scope: 'full' }).returning('id');
    const find = async (rentalId: string) => {
      const [finding] = await world
        .db('reconcile_findings')
        .insert({
          ...{ kind: 'pod_without_rental', source: 'pods:lab', subject: `lab/${newId('top')}`, evidence: {} },
          ...{ subject_ids: { provider: 'lab', rentalId }, first_run_id: run!.id, last_run_id: run!.id },
        })
        .returning('id');
      return { id: finding!.id, done: await act({ kind: 'acknowledge_finding', findingId: finding!.id }) };
    };
    const [ours, other] = [await find(rental.id), await find(newId('rent'))];
    assert.equal((await world.close()).state, 'kept');
    const whyOf = async (id: number) =>
      (await world.db('reconcile_findings').where({ id }).first())?.acknowledged_why;
    assert.deepEqual([await whyOf(ours.id), await reasonOf(ours.done)], ['erased', 'erased']);
    assert.deepEqual([await whyOf(other.id), await reasonOf(other.done)], [reason, reason]);
  });

  it('goes as well where they write it long after it was closed', async () => {
    const id = `dp_${world.userId}`;
    const mark = { id, kind: 'dispute', charge_id: 'ch_1', user_id: world.userId } as const;
    await world.db('charge_marks').insert(mark);
    await world.close();
    const acts: DirectAction[] = [
      { kind: 'block_user', userId: world.userId },
      { kind: 'lift_charge_mark', markId: id },
    ];
    for (const action of acts) {
      await setClosing({ late_until: new Date(0) });
      assert.equal((await world.look()).state, 'closed');
      const done = await act(action);
      await setClosing({ requested_at: new Date(0) });
      assert.ok((await listOpenClosings(world.db)).includes(world.userId), `${action.kind} wakes it`);
      await world.look();
      assert.equal(await reasonOf(done), 'erased');
    }
    const user = await world.db('users').where({ id: world.userId }).first();
    assert.equal(user?.blocked_reason, 'erased');
  });
});
