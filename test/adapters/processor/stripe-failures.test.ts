import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CheckoutSession, Processor } from '../../../adapters/processor/processor.js';
import { createStripeProcessor } from '../../../adapters/processor/stripe.js';
import { secretKey, startWorkbench, until, type Workbench } from '../../lab/processor/workbench.js';
import { checkoutInput, failureOf } from './calls.js';

describe('the Stripe adapter’s errors', () => {
  let bench: Workbench;
  /** A processor with a short limit, for answers that never come. */
  let impatient: Processor;
  before(async () => {
    bench = await startWorkbench();
    impatient = createStripeProcessor({ secretKey, apiUrl: bench.lab.url, timeoutMs: 300 });
  });
  after(() => bench.stop());
  afterEach(() => fetch(`${bench.lab.url}/lab/faults`, { method: 'DELETE' }));

  describe('when the processor fails', () => {
    const path = '/v1/checkout/sessions';

    for (const [what, fault] of Object.entries({
      'answers 500': { kind: 'status', status: 500 },
      'answers 429': { kind: 'status', status: 429 },
      'sends a page of HTML': { kind: 'html' },
      'is silent': { kind: 'hang' },
      // The SDK itself retries a cut connection once.
      'cuts the connection': { kind: 'reset', times: 2 },
    })) {
      it(`does not know the outcome when it ${what}, and nothing was done`, async () => {
        const input = await checkoutInput(bench);
        const before = (await bench.state()).checkout_sessions.length;
        await bench.order({ path, ...fault });
        const asked = fault.kind === 'hang' ? impatient : bench.processor;
        const error = await failureOf(asked.createCheckoutSession(input));
        assert.equal(error.kind, 'unknown');
        assert.equal((await bench.state()).checkout_sessions.length, before);
        const session = await bench.processor.createCheckoutSession(input);
        assert.equal(session.status, 'open');
      });
    }

    it('gets the same session with the same key after a lost answer', async () => {
      const input = await checkoutInput(bench);
      await bench.order({ path, kind: 'lost', silent: true });
      const error = await failureOf(impatient.createCheckoutSession(input));
      assert.equal(error.kind, 'unknown');
      const made = async (): Promise<string[]> =>
        (await bench.state()).checkout_sessions
          .filter((session) => session.client_reference_id === input.topupId)
          .map(({ id }) => id);
      await until(async () => (await made()).length === 1, 'the session whose answer was lost');
      const session = await bench.processor.createCheckoutSession(input);
      assert.deepEqual(await made(), [session.sessionId]);
      assert.equal((await bench.state()).requests.at(-1)?.idempotencyKey, `checkout:${input.topupId}`);
    });

    it('does not know the outcome while an earlier request with the key still runs', async () => {
      const input = await checkoutInput(bench);
      await bench.order({ path, kind: 'slow', delayMs: 600 });
      const first = bench.processor.createCheckoutSession(input);
      const ordered = async (): Promise<unknown> => (await fetch(`${bench.lab.url}/lab/faults`)).json();
      await until(
        async () => ((await ordered()) as unknown[]).length === 0,
        'the first request to be at work',
      );
      const error = await failureOf(bench.processor.createCheckoutSession(input));
      assert.equal(error.kind, 'unknown');
      assert.deepEqual(error.details, { code: 'idempotency_key_in_use', status: 409 });
      assert.equal((await first).status, 'open');
    });

    it('does not know the outcome when nobody listens', async () => {
      const nowhere = createStripeProcessor({ secretKey: 'sk_test', apiUrl: 'http://127.0.0.1:1' });
      const error = await failureOf(nowhere.getCheckoutSession('cs_test_1'));
      assert.equal(error.kind, 'unknown');
    });
  });

  describe('when the answer is not what it should be', () => {
    let server: Server;
    let body: unknown;
    let status = 200;

    before(async () => {
      server = createServer((_, response) => {
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    });
    after(() => {
      server.close();
      server.closeAllConnections();
    });

    function answered(answer: unknown, answerStatus = 200): Processor {
      body = answer;
      status = answerStatus;
      const apiUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      return createStripeProcessor({ secretKey: 'sk_test', apiUrl });
    }
    const read = (answer: unknown, answerStatus = 200): Promise<CheckoutSession> =>
      answered(answer, answerStatus).getCheckoutSession('cs_test_1');

    it('leaves out a refund and a dispute of a charge without a payment: nobody of ours paid it', async () => {
      const found = { id: 're_1', charge: 'ch_1', payment_intent: null, amount: 5, currency: 'usd' };
      const ofNobody = answered({ ...found, status: 'lost', data: [found] });
      assert.equal(await ofNobody.getRefund('re_1'), null);
      assert.equal(await ofNobody.getDispute('dp_1'), null);
      assert.deepEqual(await ofNobody.listRefundsOfCharge('ch_1'), []);
    });

    const session = { id: 'cs_test_1', url: null, status: 'complete', payment_status: 'paid', expires_at: 1 };
    const intent = {
      id: 'pi_1',
      status: 'succeeded',
      amount_received: 100,
      currency: 'USD',
      latest_charge: null,
    };

    it('does not take a 404 without an error in it for a success', async () => {
      const error = await failureOf(read({ detail: 'not here' }, 404));
      assert.equal(error.kind, 'unknown');
    });

    it('does not credit an amount that is no whole number of cents', async () => {
      for (const amount of [1.5, -1, '100', null, undefined, 2 ** 60]) {
        const error = await failureOf(
          read({ ...session, payment_intent: { ...intent, amount_received: amount } }),
        );
        assert.equal(error.kind, 'unknown');
      }
    });

    it('reads money and currency as they are', async () => {
      const { payment } = await read({ ...session, payment_intent: intent });
      assert.deepEqual(payment, {
        paymentId: 'pi_1',
        status: 'succeeded',
        amountReceivedCents: 100,
        currency: 'usd',
        chargeId: null,
        receiptUrl: null,
        chargedAt: null,
        customerId: null,
        topupId: null,
        userId: null,
        failure: null,
        card: null,
      });
    });

    it('takes only succeeded for success, and words it does not know for not yet decided', async () => {
      const expected = {
        succeeded: 'succeeded',
        processing: 'processing',
        requires_capture: 'processing',
        requires_action: 'requires_action',
        requires_confirmation: 'requires_action',
        requires_payment_method: 'failed',
        canceled: 'canceled',
        something_new: 'processing',
      };
      for (const [sent, read_] of Object.entries(expected)) {
        const { payment } = await read({ ...session, payment_intent: { ...intent, status: sent } });
        assert.equal(payment?.status, read_, sent);
      }
      const unknown = await read({ ...session, status: 'new', payment_status: 'new', payment_intent: null });
      assert.equal(unknown.status, 'open');
      assert.equal(unknown.paymentStatus, 'unpaid');
    });

    it('takes a 402 with a decline for declined, with both codes', async () => {
      const decline = { type: 'card_error', code: 'card_declined', decline_code: 'lost_card', message: 'no' };
      const error = await failureOf(read({ error: decline }, 402));
      assert.equal(error.kind, 'declined');
      assert.deepEqual(error.details, { code: 'card_declined', declineCode: 'lost_card', status: 402 });
    });
  });
});
