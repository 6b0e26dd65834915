import assert from 'node:assert/strict';
import type { ProcessorEvent } from '../../../adapters/processor/processor.js';
import { insertProcessorEvent } from '../../../adapters/postgres/payments/processor-events.js';
import { routeOf } from '../../../domain/payments/processor-routes.js';
import { paymentLimits } from '../../../domain/payments/limits.js';
import type { Answer } from '../../support/http/answers.js';
import type { SignedIn } from '../../support/http/api.js';
import { runOps } from '../../support/ops/ops.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { Paying, testCards } from '../../support/story/paying.js';
import { until } from '../../support/until.js';

/** Decision 128, "Trying of cards". */
describe('whoever tries stolen cards', () => {
  let service: TestService;
  let paying: Paying;
  let user: SignedIn;
  before(async () => {
    const { declinesPerPage } = paymentLimits;
    service = await startService({
      pollMs: 1_000,
      settings: { trustProxy: true, cardTries: { perHour: 6, perHourOfAddress: 4, declinesPerPage } },
    });
    paying = new Paying(service);
  });
  beforeEach(async () => {
    user = await service.signIn(1_000);
  });
  after(() => service.stop());

  const setUp = (by = user, headers = {}) => by.post('/v1/billing/setup-intent', undefined, headers);

  function assertBounded({ status, body }: Answer): void {
    assert.deepEqual([status, body.error], [429, 'rate_limited'], JSON.stringify(body));
    const details = body.details as unknown as { reason: string; retryAfterSeconds: number };
    assert.equal(details.reason, 'too_many_card_tries');
    assert.ok(details.retryAfterSeconds > 0);
    assert.match(body.message, /Nothing happened\. Try again in \d+ minutes?/);
  }

  /** Tries declined cards until the page takes none, for as long as the service needs. @returns how many were tried */
  async function tryCards(url: string): Promise<number> {
    let tried = 0;
    await until('the page has ended', async () => {
      if ((await paying.pay(url, testCards.declined)) !== 402) return true;
      tried += 1;
      return false;
    });
    return tried;
  }

  it('loses a payment page after some declines, and its top-up has expired', async () => {
    const { url, topupId } = await paying.page(user, 2_000);
    const tried = await tryCards(url);
    assert.ok(tried >= paymentLimits.declinesPerPage && tried < 60, `${tried} cards`);
    assert.notEqual(await paying.pay(url, testCards.good), 303);
    await until('the top-up has expired', async () => {
      const row = await service.db('topups').where({ id: topupId }).first();
      return row?.status === 'expired';
    });
  });

  it('loses a form for a card after some declines', async () => {
    const { body } = await setUp();
    const tried = await tryCards((body as unknown as { pageUrl: string }).pageUrl);
    assert.ok(tried >= paymentLimits.declinesPerPage && tried < 60, `${tried} cards`);
  });

  it('begins only so many forms, pages and charges in an hour, together', async () => {
    for (let i = 0; i < 3; i += 1) assert.equal((await setUp()).status, 200);
    for (let i = 0; i < 3; i += 1) assert.equal((await paying.checkout(user, 2_000)).status, 200);
    assertBounded(await setUp());
    assertBounded(await paying.checkout(user, 2_000));
    const topups = await service.db('topups').where({ user_id: user.user.id, source: 'checkout' });
    assert.equal(topups.length, 3);
    assert.equal((await service.signIn()).user.id === user.user.id, false);
  });

  it('counts an auto-topup that is switched on, and not one that is changed', async () => {
    await paying.saveCard(user);
    const put = (enabled: boolean, thresholdCents: number) =>
      user.put('/v1/billing/auto-topup', { enabled, thresholdCents });
    for (let i = 0; i < 5; i += 1) {
      assert.equal((await put(true, 100 + i)).status, 200);
      assert.equal((await put(true, 200 + i)).status, 200);
      assert.equal((await put(false, 200)).status, 200);
    }
    assertBounded(await put(true, 100));
  });

  it('shares the bound of a public address with all who come from it', async () => {
    const from = { 'X-Forwarded-For': '93.184.216.34' };
    for (let i = 0; i < 4; i += 1) {
      assert.equal((await setUp(await service.signIn(0), from)).status, 200);
    }
    assertBounded(await setUp(user, from));
    assert.equal((await setUp(user, { 'X-Forwarded-For': '93.184.216.35' })).status, 200);
  });

  it('begins nothing more after many declines in a day, and operators see them', async () => {
    const declined = (n: number): ProcessorEvent => ({
      ...{ id: `evt_decline_${user.user.id}_${n}`, kind: 'payment_intent.payment_failed' },
      ...{ createdAt: new Date(), livemode: false, apiVersion: null },
      object: {
        ...{ id: `pi_${n % 3}`, object: 'payment_intent', metadata: { user_id: user.user.id } },
        last_payment_error: { code: 'card_declined', decline_code: 'stolen_card' },
      },
    });
    for (let n = 0; n < paymentLimits.declinesPerDay; n += 1) {
      const event = declined(n);
      await insertProcessorEvent(service.db, event, routeOf(event));
    }
    assertBounded(await setUp());
    assertBounded(await paying.checkout(user, 2_000));
    assert.equal((await setUp(await service.signIn(0))).status, 200);
    const { code, out } = await runOps(service, 'declines');
    assert.equal(code, 0);
    assert.match(out, new RegExp(`^${user.user.id}  15 declines on 3 pages  last .*Z  stolen_card$`, 'm'));
  });
});
