import assert from 'node:assert/strict';
import type { TopupRow } from '../../../adapters/postgres/rows/tables.js';
import type { Processor } from '../../../adapters/processor/processor.js';
import { taskQueues } from '../../../domain/task-queues.js';
import { topupWorkflow } from '../../../workflows/contracts/topup.js';
import type { SignedIn } from '../../support/http/api.js';
import { insertTopup } from '../../support/money/factories.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { Paying } from '../../support/story/paying.js';

/** A door that a test holds shut. */
class Door {
  private opened: Promise<void> = Promise.resolve();
  private release: () => void = () => undefined;
  isWaitedFor = false;

  shut(): void {
    this.isWaitedFor = false;
    this.opened = new Promise((resolve) => (this.release = resolve));
  }

  open(): void {
    this.release();
  }

  async pass(): Promise<void> {
    this.isWaitedFor = true;
    await this.opened;
  }
}

describe('a checkout whose page is late', () => {
  let service: TestService;
  let paying: Paying;
  let user: SignedIn;
  const beforePage = new Door();
  const afterPage = new Door();

  const late = (processor: Processor): Processor => ({
    ...processor,
    enabled: true,
    async createCustomer(input) {
      const customer = await processor.createCustomer(input);
      await beforePage.pass();
      return customer;
    },
    async createCheckoutSession(input) {
      const session = await processor.createCheckoutSession(input);
      await afterPage.pass();
      return session;
    },
  });

  before(async () => {
    service = await startService({
      wrapProcessor: late,
      settings: { answerWithinMs: 1_500, answerGraceMs: 300 },
    });
    paying = new Paying(service);
  });
  beforeEach(async () => {
    user = await service.signIn();
  });
  after(() => service.stop());

  /** A row in its state after the request for the page. */
  const asked: Partial<TopupRow> = {
    ...{ status: 'creating', session_id: null, checkout_url: null, session_expires_at: null },
    page_asked_at: new Date(),
  };

  /** The pages that the processor has opened for a top-up. */
  async function pagesOf(topupId: string): Promise<number> {
    const { requests } = await paying.state();
    return requests.filter(({ idempotencyKey }) => idempotencyKey === `checkout:${topupId}`).length;
  }

  it('says that nothing was done, and then no page opens', async () => {
    beforePage.shut();
    const { status, body } = await paying.checkout(user, 700);
    assert.equal(status, 503);
    const { topupId } = body.details;
    assert.deepEqual(body.details, { topupId, outcome: 'not_done' });
    assert.ok(beforePage.isWaitedFor, 'it was about to ask for the page');
    beforePage.open();
    const ended = await paying.awaitTopup(topupId, 'failed');
    assert.equal(ended.session_id, null);
    assert.equal(await pagesOf(topupId), 0);
  });

  it('says that it is not known when the page was asked for, and the top-up tells of it', async () => {
    afterPage.shut();
    const { status, body } = await paying.checkout(user, 700);
    assert.equal(status, 503);
    const { topupId } = body.details;
    const lookAt = `/v1/billing/topups/${topupId}`;
    assert.deepEqual(body.details, { topupId, outcome: 'unknown', lookAt });
    afterPage.open();
    const { checkout_url: url } = await paying.awaitTopup(topupId, 'requires_payment');
    assert.equal((await user.get(lookAt)).body.checkoutUrl, url);
    await paying.pay(url ?? '');
    await paying.awaitAvailable(user, 700);
  });

  it('takes a page up that was asked for and never heard of, however its opening ended', async () => {
    const topup = await insertTopup(service.db, user.user.id, { ...asked });
    await service.temporal.workflow.start(topupWorkflow.type, {
      ...{ workflowId: topup.id, taskQueue: taskQueues.rentals, args: [{ topupId: topup.id }] },
    });
    const { checkout_url: url } = await paying.awaitTopup(topup.id, 'requires_payment');
    assert.match(url ?? '', /^http/);
  });

  it('gives a page up that the processor refuses to open', async () => {
    await paying.order('faults', { kind: 'status', status: 400, path: '/v1/checkout/sessions' });
    const topup = await insertTopup(service.db, user.user.id, { ...asked });
    await service.temporal.workflow.start(topupWorkflow.type, {
      ...{ workflowId: topup.id, taskQueue: taskQueues.rentals, args: [{ topupId: topup.id }] },
    });
    const { error } = await paying.awaitTopup(topup.id, 'failed');
    assert.match(error ?? '', /Nothing was charged/);
  });
});
