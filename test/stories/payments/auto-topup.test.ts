import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { autoTopupWorkflowId } from '../../../domain/payments/processor-routes.js';
import { entityStatusAttribute } from '../../../workflows/contracts/search-attributes.js';
import type { SignedIn } from '../../support/http/api.js';
import { AutoTopping } from '../../support/story/auto-topping.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { getRental } from '../../support/money/money.js';
import { until } from '../../support/until.js';

const cooldownMs = 3_000;

describe('auto-topup', () => {
  let service: TestService;
  let topping: AutoTopping;
  let user: SignedIn;

  before(async () => {
    service = await startService({ autoTopupCooldownMs: cooldownMs });
    topping = new AutoTopping(service);
  });
  afterEach(async () => {
    await topping.clearFaults();
    // Otherwise the running machines would cause top-ups while other tests look.
    await service.db('auto_topups').update({ enabled: false });
    await topping.awaitHandled();
    await topping.assertAddsUp();
  });
  after(() => service.stop());

  async function signIn(cents: number, method?: string): Promise<void> {
    user = await service.signIn(cents);
    await topping.saveCard(user, method);
  }

  const settings = { enabled: true, thresholdCents: 1_000, topupAmountCents: 2_000 };

  describe('that trips', () => {
    it('charges the card when the tick brings the balance below the threshold: one entry, one mail', async () => {
      await signIn(1_002);
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

    it('is looked at on PUT when a machine runs, and waits for the cooldown, seen by operators, then ends', async () => {
      await signIn(500);
      await topping.run(user, 60);
      await topping.put(user, settings);
      await topping.awaitAttempt(user, 'succeeded');
      const handle = service.temporal.workflow.getHandle(autoTopupWorkflowId(user.user.id));
      const waiting = await until('it waits', async () => {
        const seen = await handle.describe();
        return seen.typedSearchAttributes.get(entityStatusAttribute) === 'cooling' && seen;
      });
      assert.equal(waiting.status.name, 'RUNNING');
      await topping.awaitQuiet(user);
      assert.deepEqual(await topping.credits(user), [2_000]);
    });

    it('charges nothing while nothing runs, whatever the balance is', async () => {
      await signIn(500);
      await topping.put(user, settings);
      await topping.awaitQuiet(user);
      assert.deepEqual(await topping.attempts(user), []);
    });

    it('is charged again only after the cooldown, counted from the attempt’s start', async () => {
      await signIn(500);
      await topping.run(user, 360_000);
      await topping.put(user, { ...settings, topupAmountCents: 1_000, thresholdCents: 100_000 });
      await topping.awaitAttempt(user, 'succeeded', 1);
      const [first, second] = await topping.attempts(user);
      const apartMs = second!.created_at.getTime() - first!.created_at.getTime();
      assert.ok(apartMs >= cooldownMs, `${apartMs} ms apart`);
    });

    it('honours a cap a day, and says what it waits for', async () => {
      await signIn(500);
      await topping.run(user, 360_000);
      await topping.put(user, {
        ...{ enabled: true, thresholdCents: 100_000, topupAmountCents: 1_000, dailyCapCents: 1_500 },
      });
      await topping.awaitAttempt(user, 'succeeded');
      await sleep(cooldownMs + 1_500);
      assert.deepEqual(await topping.credits(user), [1_000]);
    });
  });

  describe('whose charge fails', () => {
    it('is switched off; the user is asked for another card, and an invoice offers to pay', async () => {
      await signIn(500, 'pm_card_chargeCustomerFail');
      await topping.run(user);
      await topping.put(user, settings);
      const attempt = await topping.awaitAttempt(user, 'failed');
      assert.equal(attempt.decline_code, 'generic_decline');
      const { nextAttemptAt, ...shown } = (await user.get('/v1/billing/auto-topup')).body;
      assert.ok(Date.parse(nextAttemptAt ?? '') > attempt.created_at.getTime(), nextAttemptAt ?? 'null');
      assert.deepEqual(shown, {
        ...{ enabled: false, thresholdCents: 1_000, topupAmountCents: 2_000, dailyCapCents: null },
        disabledReason: 'charge_failed',
      });
      assert.deepEqual(await topping.mails(user), ['Your automatic top-up failed: please update your card']);
      const [invoice] = await topping.invoices(user);
      assert.deepEqual([invoice?.reason, invoice?.amount_cents], ['topup_failed', 2_000]);
      await topping.awaitQuiet(user);
    });

    it('leaves one open offer: a newer decline voids the older one, a later top-up of that much voids it', async () => {
      await signIn(500, 'pm_card_chargeCustomerFail');
      await topping.run(user, 60);
      await topping.put(user, settings);
      await topping.awaitAttempt(user, 'failed');
      await sleep(cooldownMs);
      await topping.put(user, { ...settings, topupAmountCents: 3_000 });
      await topping.awaitAttempt(user, 'failed', 1);
      await until(
        'the older offer is void',
        async () => (await topping.invoices(user))[0]?.status === 'void',
      );
      const [, newer] = await topping.invoices(user);
      assert.notEqual(newer?.status, 'void');

      await topping.saveCard(user);
      assert.equal((await topping.checkout(user, 3_000)).body.status, 'succeeded');
      await until('the offer is void', async () => (await topping.invoices(user))[1]?.status === 'void');
    });

    it('mails the pay link when the bank wants its customer to approve, and cancels the charge', async () => {
      await signIn(500);
      await topping.order('faults', { kind: 'decline', declineCode: 'authentication_required' });
      await topping.run(user, 60);
      await topping.put(user, settings);
      await topping.awaitAttempt(user, 'failed');
      assert.deepEqual(await topping.charges(user), ['canceled']);
      const invoice = await until('the invoice is open', async () => {
        const [row] = await topping.invoices(user);
        return row?.status === 'open' && row;
      });
      const mail = await until('the mail is there', () =>
        service.db('mail_outbox').where({ recipient: user.user.email }).first(),
      );
      assert.ok(mail.body?.includes(invoice.hosted_invoice_url!), mail.body ?? '');
    });

    it('is switched off when the card is gone at the processor', async () => {
      await signIn(500);
      const pmId = (await topping.card(user))!;
      await topping.order('faults', { kind: 'event_drop', type: 'payment_method.detached' });
      await service.stripe.paymentMethods.detach(pmId);
      await topping.run(user, 60);
      await topping.put(user, settings);
      const attempt = await topping.awaitAttempt(user, 'failed');
      assert.equal(attempt.decline_code, 'card_removed');
      assert.equal((await user.get('/v1/billing/auto-topup')).body.enabled, false);
      await until('the card is gone', async () => (await topping.card(user)) === null);
    });
  });

  describe('whose outcome is unknown', () => {
    it('is asked again with the same key, stays enabled, and has no invoice', async () => {
      await signIn(500);
      await topping.order('faults', { kind: 'lost', times: 3, method: 'POST', path: '/v1/payment_intents' });
      await topping.run(user, 60);
      await topping.put(user, settings);
      await topping.awaitAttempt(user, 'succeeded');
      assert.deepEqual(await topping.charges(user), ['succeeded']);
      assert.deepEqual(await topping.credits(user), [2_000]);
      assert.deepEqual(await topping.invoices(user), []);
    });

    it('is credited when the bank decides later, by its event', async () => {
      await signIn(500);
      await topping.order('faults', { kind: 'processing' });
      await topping.run(user, 60);
      await topping.put(user, settings);
      const attempt = await topping.awaitPayment(user);
      assert.equal(attempt.status, 'processing');
      await topping.order(`payment_intents/${attempt.payment_id!}/finish`);
      await topping.awaitAttempt(user, 'succeeded');
      assert.deepEqual(await topping.credits(user), [2_000]);
    });

    it('is honoured when the settings change or the card goes in the middle; the next one sees the new state', async () => {
      await signIn(500);
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
  });

  describe('while a machine’s money is over', () => {
    it('keeps the machine until the charge is decided, and takes what is due when the credit comes', async () => {
      await signIn(2);
      await topping.order('faults', { kind: 'processing' });
      // The settings come first: a tick that finds none ends the machine.
      await topping.put(user, settings);
      await topping.awaitQuiet(user);
      const rental = await topping.run(user, 36_000, 2_000);
      const attempt = await topping.awaitPayment(user);
      await until('the machine is starved', async () => {
        const meter = await service.db('meters').whereNotNull('starved_ms').first();
        return meter !== undefined;
      });
      assert.equal((await getRental(service.db, rental)).status, 'running');
      await topping.order(`payment_intents/${attempt.payment_id!}/finish`);
      await topping.awaitAttempt(user, 'succeeded');
      await until('what was due is charged', async () => {
        const { charged_cents: cents } = await getRental(service.db, rental);
        return cents > 20;
      });
      assert.equal((await getRental(service.db, rental)).status, 'running');
    });

    it('ends the machine when the charge is declined', async () => {
      await signIn(2, 'pm_card_chargeCustomerFail');
      await topping.put(user, settings);
      await topping.awaitQuiet(user);
      const rental = await topping.run(user, 36_000, 2_000);
      await topping.awaitAttempt(user, 'failed');
      const ended = await until('it ends', async () => {
        const row = await getRental(service.db, rental);
        return row.status !== 'running' && row;
      });
      assert.equal(ended.stop_reason, 'balance_exhausted');
    });
  });

  it('charges once per cooldown, never two at a time, when 50 machines drain one wallet', async () => {
    await signIn(600);
    for (let index = 0; index < 50; index += 1) await topping.run(user, 3_600);
    await topping.put(user, { ...settings, topupAmountCents: 1_000 });
    await topping.awaitAttempt(user, 'succeeded', 1);
    const attempts = await topping.attempts(user);
    for (const [index, { created_at: at }] of attempts.entries()) {
      const before = attempts[index - 1];
      if (before) assert.ok(at.getTime() - before.created_at.getTime() >= cooldownMs);
    }
    const { rows } = await service.db.raw<{ rows: unknown[] }>(
      `select 1 from topups a join topups b on a.user_id = b.user_id and a.id < b.id
        where a.source = 'auto_topup' and b.source = 'auto_topup' and b.created_at < a.closed_at`,
    );
    assert.deepEqual(rows, [], 'two attempts were open at once');
  });

  it('can’t have two open attempts: the database refuses the second', async () => {
    await signIn(500);
    await topping.order('faults', { kind: 'processing' });
    await topping.run(user, 60);
    await topping.put(user, settings);
    const { id, ...open } = await topping.awaitAttempt(user, 'processing');
    const second = {
      ...open,
      id: id.replace(/.$/, id.endsWith('0') ? '1' : '0') as typeof id,
      payment_id: null,
    };
    await assert.rejects(service.db('topups').insert(second), /topups_one_auto/);
    const { payment_id: known } = await topping.awaitPayment(user);
    await topping.order(`payment_intents/${known!}/finish`);
    await topping.awaitAttempt(user, 'succeeded');
  });
});
