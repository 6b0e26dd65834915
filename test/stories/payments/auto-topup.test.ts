import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { actDirectly } from '../../../adapters/postgres/operators/direct-actions.js';
import type { ChargeMarkRow } from '../../../adapters/postgres/rows/tables.js';
import type { SignedIn } from '../../support/http/api.js';
import { AutoTopping } from '../../support/story/auto-topping.js';
import { credit } from '../../support/money/money.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { until } from '../../support/until.js';

const operatorEmail = 'operators@example.com';

describe('auto-topup', () => {
  let service: TestService;
  let topping: AutoTopping;
  let user: SignedIn;

  before(async () => {
    service = await startService({ autoTopupCooldownMs: 200, operatorEmail, pollMs: 1_000 });
    topping = new AutoTopping(service);
  });
  beforeEach(async () => {
    user = await service.signIn();
  });
  afterEach(async () => {
    await topping.clearFaults();
    await service.db('auto_topups').update({ enabled: false });
    await topping.awaitHandled();
    await topping.assertAddsUp();
    await topping.liftMarks();
  });
  after(() => service.stop());

  const settings = { enabled: true, thresholdCents: 1_000, topupAmountCents: 2_000 };

  it('charges the card when the tick brings the balance below the threshold: one entry, one mail', async () => {
    await credit(service.db, user.user.id, 1_002);
    await topping.saveCard(user);
    await topping.put(user, settings);
    await topping.awaitQuiet(user);
    assert.deepEqual(await topping.attempts(user), [], 'nothing is charged above the threshold');

    await topping.run(user);
    const attempt = await topping.awaitAttempt(user, 'succeeded');
    assert.deepEqual([attempt.amount_cents, attempt.credited_cents], [2_000, 2_000]);
    assert.ok(attempt.charge_id);
    assert.deepEqual(await topping.credits(user), [2_000]);
    assert.deepEqual(await topping.charges(user), ['succeeded']);
    const receipts = (await topping.mails(user)).filter((subject) => subject.includes('automatic'));
    assert.deepEqual(receipts, ['Your automatic top-up of $20.00']);
    const { body } = await user.get('/v1/billing/ledger');
    const { entries } = body as unknown as { entries: { type: string; processorChargeId: string }[] };
    const entry = entries.find(({ type }) => type === 'auto_topup');
    assert.equal(entry?.processorChargeId, attempt.charge_id);
  });

  it('honours a charge when the settings change or the card goes while the bank decides; the next one sees the new state', async () => {
    await credit(service.db, user.user.id, 500);
    await topping.saveCard(user);
    await topping.order('faults', { kind: 'processing' });
    await topping.run(user, 60);
    await topping.put(user, settings);
    const attempt = await topping.awaitPayment(user);
    await topping.put(user, { ...settings, topupAmountCents: 5_000 });
    assert.equal((await user.delete('/v1/billing/card')).status, 200);
    await topping.order(`payment_intents/${attempt.payment_id!}/finish`);
    await topping.awaitAttempt(user, 'succeeded');
    assert.deepEqual(await topping.credits(user), [2_000]);
    const shown = (await user.get('/v1/billing/auto-topup')).body as unknown as Record<string, unknown>;
    assert.deepEqual(
      [shown['enabled'], shown['disabledReason'], shown['topupAmountCents']],
      [false, 'card_removed', 5_000],
    );
    await topping.awaitQuiet(user);
    assert.equal((await topping.attempts(user)).length, 1);
  });

  describe('after a payment that its payer or their bank denies (decision 79)', () => {
    /** A payment by the saved card, credited. */
    async function paid(payer: SignedIn, method = 'pm_card_visa', cents = 1_500): Promise<string> {
      await topping.saveCard(payer, method);
      const { body } = await topping.checkout(payer, cents);
      return (await topping.awaitTopup(body.topupId, 'succeeded')).charge_id!;
    }

    function awaitMark(): Promise<ChargeMarkRow> {
      return until('a mark stands', () => service.db('charge_marks').whereNull('lifted_at').first());
    }

    async function lift({ id }: ChargeMarkRow): Promise<void> {
      await actDirectly(service.db, {
        ...{ operationId: newId('op'), operator: 'ada', reason: 'it was a mistake' },
        action: { kind: 'lift_charge_mark', markId: id },
      });
    }

    it('by a dispute is not followed by another automatic charge, however often it is disputed', async () => {
      const chargeIds = [
        await paid(user, 'pm_card_visa', 1_500),
        await paid(user, 'pm_card_visa', 1_600),
        await paid(user, 'pm_card_visa', 1_700),
      ];
      await topping.put(user, settings);
      await topping.run(user);
      // Each debit, and each second of the machine, lowers the level below the threshold.
      for (const chargeId of chargeIds) {
        await topping.order(`charges/${chargeId}/dispute`);
        await topping.awaitHandled();
      }
      await until('all of it is debited', async () => (await topping.wallet(user)).available_cents < 1_000);
      await topping.awaitQuiet(user);
      assert.deepEqual(await topping.charges(user), []);
      const mark = await awaitMark();
      const { body } = await user.get('/v1/billing/auto-topup');
      const { enabled, disabledReason } = body as unknown as Record<string, unknown>;
      assert.deepEqual([enabled, disabledReason], [false, 'charges_held']);
      assert.deepEqual([mark.kind, mark.user_id], ['dispute', user.user.id]);
    });

    it('is answered with a payment page at the next checkout, until an operator lifts the mark', async () => {
      const chargeId = await paid(user);
      await topping.order(`charges/${chargeId}/dispute`, { inquiry: true });
      const mark = await awaitMark();
      const { body, status } = await topping.checkout(user, 500);
      assert.deepEqual([status, body.status], [200, 'requires_payment']);
      assert.match(body.checkoutUrl, /^http/);
      await lift(mark);
      const after = await topping.checkout(user, 600);
      assert.deepEqual([after.body.status, after.body.checkoutUrl], ['succeeded', null]);
    });

    it('by an early fraud warning takes no money, switches auto-topup off, and tells user and operators', async () => {
      await topping.saveCard(user, 'pm_card_createIssuerFraudRecord');
      await topping.put(user, settings);
      const { body } = await topping.checkout(user, 1_500);
      await topping.awaitTopup(body.topupId, 'succeeded');
      const mark = await awaitMark();
      await topping.awaitHandled();
      assert.deepEqual([mark.kind, mark.user_id], ['early_fraud_warning', user.user.id]);
      assert.equal((await topping.wallet(user)).available_cents, 1_500);
      const audit = (await user.get('/v1/audit?kind=charges_held')).body as unknown as { events: unknown[] };
      assert.equal(audit.events.length, 1);
      assert.ok((await topping.mails(user)).includes('Your card is no longer charged automatically'));
      const told = await service.db('mail_outbox').where({ recipient: operatorEmail });
      assert.ok(told.some(({ subject }) => subject === `A bank warns of fraud: ${mark.id}`));
      const refused = await user.put('/v1/billing/auto-topup', settings);
      assert.deepEqual(
        [refused.status, refused.body.error, refused.body.details.reason],
        [403, 'blocked', 'charges_held'],
      );
      await lift(mark);
      await topping.put(user, settings);
    });

    it('marks the card as well, whoever else has saved it', async () => {
      const chargeId = await paid(user, 'pm_card_mastercard');
      const other = await service.signIn(5_000);
      await topping.saveCard(other, 'pm_card_mastercard');
      await topping.put(other, settings);
      const late = await service.signIn(5_000);
      await topping.order(`charges/${chargeId}/warn`);
      const mark = await awaitMark();
      await topping.awaitHandled();
      await topping.saveCard(late, 'pm_card_mastercard');
      for (const payer of [other, late]) {
        assert.equal((await topping.checkout(payer, 500)).body.status, 'requires_payment');
        assert.equal((await payer.put('/v1/billing/auto-topup', settings)).status, 403);
      }
      const stored = await service.db('auto_topups').where({ user_id: other.user.id }).first();
      assert.deepEqual([stored?.enabled, stored?.disabled_why], [false, 'charges_held']);
      const elsewhere = await service.signIn();
      await topping.saveCard(elsewhere, 'pm_card_visa');
      assert.equal(
        (await topping.checkout(elsewhere, 500)).body.status,
        'succeeded',
        'another card is not marked',
      );
      await lift(mark);
      assert.equal((await topping.checkout(other, 700)).body.status, 'succeeded');
    });

    it('marks a card that 0.1 saved without its fingerprint', async () => {
      const other = await service.signIn();
      await topping.saveCard(other, 'pm_card_amex');
      await service.db('saved_cards').where({ user_id: other.user.id }).update({ fingerprint: null });
      const chargeId = await paid(user, 'pm_card_amex');
      await topping.order(`charges/${chargeId}/dispute`);
      await awaitMark();
      assert.equal((await topping.checkout(other, 500)).body.status, 'requires_payment');
    });
  });
});
