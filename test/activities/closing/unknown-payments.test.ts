import assert from 'node:assert/strict';
import { insertClosing } from '../../../adapters/postgres/accounts/closings.js';
import { anotherAccount, ProcessorError } from '../../../adapters/processor/processor.js';
import { closingWorld } from '../../support/activities/closing-world.js';
import { operateNow } from '../../support/ops/operators.js';

/** Decision 194, "Payments of another account". */
describe('a payment of an account that closes, which the processor does not know', () => {
  const world = closingWorld();

  async function payElsewhere(amountCents: number): Promise<string> {
    const paymentId = await world.pay(amountCents);
    world.payments.delete(paymentId);
    return paymentId;
  }

  it('waits for operators, who are told which, while the other payments take theirs', async () => {
    const first = await world.pay(500);
    const second = await payElsewhere(1_000);
    const third = await world.pay(300);
    await world.give(200);
    const row = await world.close();
    assert.deepEqual(world.returned(), [
      [third, 300],
      [first, 500],
    ]);
    assert.deepEqual(
      [row.state, row.waits_for, await world.total()],
      ['returning', ['refused_refunds'], 1_200],
    );
    const [told, ...more] = await world.told();
    assert.match(told ?? '', /\$10\.00/);
    assert.match(told ?? '', new RegExp(`does not know ${second}, which brought \\$10\\.00 of it`));
    await world.look();
    assert.deepEqual([more, (await world.told()).length], [[], 1]);
    await world.give(-1_000);
    const after = await world.look();
    assert.deepEqual([after.state, after.lapsed_cents, await world.total()], ['kept', 200, 0]);
  });

  it('has no share of what comes later, once it is decided', async () => {
    const first = await world.pay(500);
    await payElsewhere(1_000);
    await world.close();
    await world.give(-1_000);
    assert.equal((await world.look()).state, 'kept');
    await world.bounce(world.refunds[0]!);
    await world.look();
    assert.deepEqual(
      [world.returned(), await world.total()],
      [
        [
          [first, 500],
          [first, 500],
        ],
        0,
      ],
    );
    assert.equal((await world.told()).length, 1);
  });

  it('has no share of what comes before the next look, once operators took its money', async () => {
    const first = await world.pay(500);
    await payElsewhere(1_000);
    await world.close();
    await operateNow(world.db, { kind: 'adjust', userId: world.userId, amountCents: -1_000 });
    await world.bounce(world.refunds[0]!);
    await world.look();
    assert.deepEqual(
      [world.returned().map(([paymentId]) => paymentId), await world.total()],
      [[first, first], 0],
    );
  });

  it('gives its money back once the processor knows it', async () => {
    const paymentId = await world.pay(1_000);
    const payment = world.payments.get(paymentId)!;
    world.payments.delete(paymentId);
    assert.deepEqual((await world.close()).waits_for, ['refused_refunds']);
    world.payments.set(paymentId, payment);
    assert.equal((await world.look()).state, 'kept');
    assert.deepEqual([world.returned(), await world.total()], [[[paymentId, 1_000]], 0]);
  });

  it('is given by no other payment: it may have gone back where it was paid', async () => {
    await world.pay(1_000);
    await payElsewhere(1_000);
    await world.spend(800);
    const row = await world.close();
    assert.deepEqual(
      [world.returned().map(([, cents]) => cents), row.waits_for],
      [[200], ['refused_refunds']],
    );
    assert.equal(await world.total(), 1_000);
  });

  it('is decided once, also where the worker dies before or after it is written down', async () => {
    const first = await world.pay(500);
    const second = await payElsewhere(1_000);
    let asked = 0;
    world.lone.processor.answers.getPayment = async (id) => {
      asked += 1;
      // Before the answer of the unknown one is written down, then before the next one is looked at.
      if (asked === 1 || (id === first && asked === 3)) throw new Error('the worker died');
      return world.getPayment(id);
    };
    await assert.rejects(world.close(), /the worker died/);
    await assert.rejects(world.look(), /the worker died/);
    assert.deepEqual((await world.look()).waits_for, ['refused_refunds']);
    const rows = await world.db('closing_refunds').where({ user_id: world.userId }).orderBy('id');
    assert.deepEqual(
      rows.map((row) => [row.payment_id, row.refused_code, row.refund_id !== null]),
      [
        [second, 'resource_missing', false],
        [first, null, true],
      ],
    );
    assert.deepEqual([world.returned(), await world.total()], [[[first, 500]], 1_000]);
  });

  it('is not decided by a key of another account', async () => {
    await payElsewhere(1_000);
    const details = { code: anotherAccount };
    world.lone.processor.answers.getPayment = () =>
      Promise.reject(new ProcessorError('refused', 'another account', details));
    await assert.rejects(world.close(), /another account/);
    const rows = await world.db('closing_refunds').where({ user_id: world.userId });
    assert.deepEqual(
      rows.map(({ refused_code: code }) => code),
      [null],
    );
  });

  it('keeps no restored closing from the others', async () => {
    const first = await world.pay(500);
    await payElsewhere(1_000);
    await insertClosing(world.db, world.userId);
    await insertClosing(world.db, world.userId, 'restored');
    assert.deepEqual((await world.look()).waits_for, ['refused_refunds']);
    assert.deepEqual([world.returned(), await world.total()], [[[first, 500]], 1_000]);
  });
});
