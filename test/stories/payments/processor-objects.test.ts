import assert from 'node:assert/strict';
import { defaultSettings } from '../../../api/settings.js';
import { dunning } from '../../../domain/payments/dunning.js';
import { entityStatusAttribute } from '../../../workflows/contracts/search-attributes.js';
import type { SignedIn } from '../../support/http/api.js';
import { publishableKey, startService, type TestService } from '../../support/service/living-service.js';
import { Invoicing } from '../../support/story/invoicing.js';
import { testCards } from '../../support/story/paying.js';
import { Reversing, sums } from '../../support/story/reversing.js';
import { until } from '../../support/until.js';

const DAY = 86_400_000;

/** The workflows that follow the processor's cards, refunds, disputes and invoices: each one's way over real wires. */
describe('what the processor keeps of a user', () => {
  let service: TestService;
  let paying: Invoicing;
  let user: SignedIn;

  before(async () => {
    service = await startService({ pollMs: 1_000 });
    paying = new Invoicing(service);
  });
  beforeEach(async () => {
    user = await service.signIn();
  });
  afterEach(async () => {
    await paying.clearFaults();
    await paying.awaitHandled();
    await paying.liftMarks();
  });
  after(() => service.stop());

  describe('a saved card', () => {
    async function isAttached(pmId: string): Promise<boolean> {
      return (await service.stripe.paymentMethods.retrieve(pmId)).customer !== null;
    }

    it('begins with the secret with which the processor’s form goes on, and its page, and charges nothing', async () => {
      const { status, body } = await user.post('/v1/billing/setup-intent');
      assert.equal(status, 200);
      assert.deepEqual(Object.keys(body), ['clientSecret', 'publishableKey', 'pageUrl']);
      const { clientSecret, pageUrl, ...key } = body as unknown as Record<string, string>;
      const setupId = clientSecret!.split('_secret_')[0]!;
      const setup = await service.stripe.setupIntents.retrieve(setupId);
      assert.deepEqual([setup.usage, setup.metadata], ['off_session', { user_id: user.user.id }]);
      assert.deepEqual(key, { publishableKey });
      const { origin, pathname, searchParams } = new URL(pageUrl!);
      assert.equal(origin + pathname, `${service.processor.url}/setup/${setupId}`);
      assert.equal(searchParams.get('client_secret'), clientSecret);
      assert.equal(searchParams.get('return_url'), `${defaultSettings.dashboardUrl}/app/billing`);
      assert.match(await (await fetch(pageUrl!)).text(), /name="cardNumber"/);
    });

    it('can’t begin (503) while the processor is down, and works again afterwards', async () => {
      await paying.order('faults', { kind: 'status', status: 500, path: '/v1/customers' });
      const down = await user.post('/v1/billing/setup-intent');
      assert.deepEqual([down.status, down.body.error], [503, 'temporarily_unavailable']);
      assert.equal((await user.post('/v1/billing/setup-intent')).status, 200);
    });

    it('is shown with brand, last four digits and expiry; another one replaces it, and it is detached', async () => {
      const none = await user.get('/v1/billing/card');
      assert.deepEqual(none.body, { brand: null, last4: null, expMonth: null, expYear: null, pmId: null });
      const first = await paying.saveCard(user);
      const second = await paying.saveCard(user, 'pm_card_mastercard');
      await until('the first one is detached', async () => !(await isAttached(first)));
      assert.equal(await isAttached(second), true);
      await paying.awaitHandled();
      const { body } = await user.get('/v1/billing/card');
      const { expYear } = body as unknown as { expYear: number };
      assert.deepEqual(body, { brand: 'mastercard', last4: '4444', expMonth: 12, expYear, pmId: second });
    });

    it('is removed at once, and detached in the end while the processor is down', async () => {
      const pmId = await paying.saveCard(user);
      await paying.order('faults', {
        ...{ kind: 'status', status: 500, times: 2, method: 'POST', path: `/v1/payment_methods/${pmId}` },
      });
      for (const time of ['first', 'second']) {
        const answer = await user.delete('/v1/billing/card');
        assert.deepEqual([answer.status, answer.body], [200, { ok: true }], `the ${time} time`);
        assert.equal(await paying.card(user), null);
      }
      await until('it is detached', async () => !(await isAttached(pmId)));
    });

    it('is saved on the payment page when the payer ticks its consent, and charged the next time', async () => {
      const first = await paying.page(user, 1_000);
      await paying.pay(first.url, testCards.good, { save: 'on' });
      await paying.awaitAvailable(user, 1_000);
      assert.notEqual(await paying.card(user), null);
      const second = await paying.checkout(user, 700);
      assert.deepEqual([second.status, second.body.status], [200, 'succeeded'], JSON.stringify(second.body));
      assert.equal((await paying.wallet(user)).available_cents, 1_700);
    });
  });

  describe('a payment that comes back', () => {
    let reversing: Reversing;
    beforeEach(() => {
      reversing = new Reversing(service, paying, user);
    });
    afterEach(async () => {
      await paying.awaitHandled();
      await paying.assertAddsUp();
    });

    it('by a refund leaves the wallet as an adjustment, and the user is mailed', async () => {
      const { paymentId } = await reversing.paid(1_000);
      const refund = await service.stripe.refunds.create({ payment_intent: paymentId });
      const closed = await reversing.awaitRow(refund.id, 'closed_at');
      assert.deepEqual([closed.status, sums(closed)], ['succeeded', [1_000, 0, 0]]);
      assert.deepEqual(await paying.entries(reversing.user), [
        ['processor_topup', 1_000],
        ['adjustment', -1_000],
      ]);
      assert.ok((await paying.mails(reversing.user)).includes('Your payment was refunded'));
      assert.deepEqual(await service.temporal.workflow.getHandle(refund.id).result(), {
        outcome: 'succeeded',
      });
    });

    it('by a dispute leaves the wallet while it is open, and its workflow is there for operators', async () => {
      const { chargeId } = await reversing.paid(1_000);
      const id = String((await paying.order(`charges/${chargeId}/dispute`))['id']);
      const open = await reversing.awaitRow(id, 'taken_at');
      assert.deepEqual(
        [open.kind, open.status, sums(open), open.closed_at],
        [...['dispute', 'needs_response'], [1_000, 0, 0], null],
      );
      const handle = service.temporal.workflow.getHandle(id);
      // The row is written before its workflow hears of it.
      await until('operators see its status', async () => {
        const { status, typedSearchAttributes } = await handle.describe();
        assert.equal(status.name, 'RUNNING');
        return typedSearchAttributes.get(entityStatusAttribute) === 'needs_response';
      });
      await paying.order(`disputes/${id}/lose`);
      await reversing.awaitRow(id, 'closed_at');
      assert.equal((await paying.wallet(reversing.user)).available_cents, 0);
      assert.ok((await paying.mails(reversing.user)).includes('Your bank took back a payment'));
    });

    it('by a dispute whose events come in the wrong order, twice or late ends the same', async () => {
      const { chargeId } = await reversing.paid(1_000);
      await paying.order('faults', { kind: 'event_reorder', type: 'charge.dispute.created' });
      await paying.order('faults', { kind: 'event_duplicate', type: 'charge.dispute.funds_withdrawn' });
      await paying.order('faults', {
        kind: 'event_delay',
        delayMs: 300,
        type: 'charge.dispute.funds_reinstated',
      });
      const id = String((await paying.order(`charges/${chargeId}/dispute`))['id']);
      await reversing.awaitRow(id, 'taken_at');
      await paying.order(`disputes/${id}/win`);
      await reversing.awaitRow(id, 'closed_at');
      await paying.awaitHandled();
      assert.deepEqual(await paying.entries(reversing.user), [
        ['processor_topup', 1_000],
        ['adjustment', -1_000],
        ['adjustment', 1_000],
      ]);
    });

    it('by the documented test card comes at once with the payment', async () => {
      await reversing.paid(1_000, 'pm_card_createDispute');
      await until('it is debited', async () => (await paying.wallet(reversing.user)).available_cents === 0);
      const { disputes } = await paying.state();
      await service.stripe.disputes.update(disputes.at(-1)!.id, {
        evidence: { uncategorized_text: 'winning_evidence' },
      });
      await paying.awaitAvailable(reversing.user, 1_000);
    });
  });

  describe('an invoice', () => {
    it('goes through a whole month of dunning: draft, open, four reminders, uncollectible, and paid after all', async () => {
      await paying.order('faults', { kind: 'html', times: 1, path: '/v1/invoices' });
      const id = await paying.draft(user, 1_200);
      assert.equal((await user.get(`/v1/billing/invoices/${id}/pay-url`)).body.url, null);
      await paying.start(id);
      const open = await paying.awaitInvoice(id, 'open');
      assert.equal(open.due_at!.getTime() - open.finalized_at!.getTime(), dunning.dueDays * DAY);
      assert.equal((await user.get(`/v1/billing/invoices/${id}/pay-url`)).body.url, open.hosted_invoice_url);

      /** Makes the invoice this old, and has its workflow look. */
      const age = async (days: number): Promise<void> => {
        const at = service.db.raw(`clock_ms() - :ms * interval '1 millisecond'`, { ms: days * DAY });
        await service.db('invoices').where({ id }).update({ created_at: at, finalized_at: at });
        await service.temporal.workflow.getHandle(id).signal('processor-event');
      };
      const subjects = ['You have an invoice for $12.00'];
      for (const [no, days] of dunning.reminderDays.entries()) {
        const isLast = no === dunning.reminderDays.length - 1;
        subjects.push(`${isLast ? 'Final reminder' : 'Reminder'}: your invoice for $12.00 is unpaid`);
        await age(days);
        await until(`reminder ${no + 1}`, async () => (await paying.mails(user)).length === subjects.length);
      }
      assert.deepEqual(await paying.mails(user), subjects);
      await age(dunning.writeOffDays);
      await paying.awaitInvoice(id, 'uncollectible');
      assert.deepEqual(await paying.mirrors(id), ['uncollectible']);
      assert.deepEqual(await paying.mails(user), [...subjects, 'We’ve written off your invoice for $12.00']);
      await paying.awaitClosed(id);

      await paying.pay(open.hosted_invoice_url!);
      const paid = await paying.awaitInvoice(id, 'paid');
      assert.ok(paid.paid_at && paid.receipt_url);
      assert.deepEqual(await paying.entries(user), [], 'a debt that is paid credits nothing');
    });

    it('shows operators what it waits for and until when', async () => {
      const { id } = await paying.open(user, 1_200);
      const handle = service.temporal.workflow.getHandle(id);
      const details = await until('it waits', async () => {
        const { currentDetails } = await service.temporal.workflowService
          .queryWorkflow({
            namespace: service.namespace.name,
            execution: { workflowId: handle.workflowId },
            query: { queryType: '__temporal_workflow_metadata' },
          })
          .then(
            ({ queryResult }) =>
              JSON.parse(Buffer.from(queryResult!.payloads![0]!.data!).toString()) as {
                currentDetails: string;
              },
          );
        return currentDetails.includes('Waits for') && currentDetails;
      });
      assert.match(
        details,
        /^open: \$12\.00, manual, for usr_\w+; reminder 1 of 4 comes next\. Waits .* until 20/,
      );
    });
  });
});
