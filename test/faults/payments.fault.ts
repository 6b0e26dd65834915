import assert from 'node:assert/strict';
import { verifyLedger } from '../../adapters/postgres/ledger/verify.js';
import type { Answer, AnswerBody } from '../support/http/answers.js';
import type { SignedIn } from '../support/http/api.js';
import { startService, type TestService } from '../support/service/living-service.js';
import { runBackfill, runUpkeepRound } from '../support/service/upkeep-round.js';
import { Paying } from '../support/story/paying.js';
import { takeChances, type Chances } from '../support/seeded.js';
import { until } from '../support/until.js';

const payments = Number(process.env['FAULT_PAYMENTS'] ?? '2000');
/** Half of them have a saved card. */
const users = Math.max(2, Math.min(100, Math.floor(payments / 10)));
/** The number of users who pay at once. */
const atOnce = 12;

/** The events around one payment. All are drawn before the first begins, so that a seed always gives the same plan. */
interface Plan {
  readonly cents: number;
  readonly fault: Record<string, unknown> | undefined;
  /** The client asks twice at the same moment, with the same Idempotency-Key. */
  readonly twins: boolean;
  /** The page is paid in two browser windows. */
  readonly twice: boolean;
}

/** Faults at the processor and in its connection to the service. Each hits whichever call or event comes next. */
const faults: readonly Record<string, unknown>[] = [
  { kind: 'event_duplicate', times: 3 },
  { kind: 'event_reorder', times: 2 },
  { kind: 'event_delay', delayMs: 700, times: 3 },
  { kind: 'event_drop', times: 2 },
  { kind: 'event_drop', times: 6 },
  { kind: 'status', status: 500 },
  { kind: 'status', status: 429 },
  { kind: 'html', times: 2 },
  { kind: 'reset', times: 2 },
  { kind: 'lost', times: 2 },
  { kind: 'lost', method: 'POST', path: '/v1/payment_intents', times: 2 },
  { kind: 'lost', method: 'POST', path: '/v1/checkout/sessions', times: 2 },
  { kind: 'slow', delayMs: 400 },
  { kind: 'decline', declineCode: 'insufficient_funds' },
];

function plan(chances: Chances): Plan {
  return {
    cents: 100 + chances.below(20_000),
    fault: chances.below(3) === 0 ? faults[chances.below(faults.length)] : undefined,
    twins: chances.below(20) === 0,
    twice: chances.below(40) === 0,
  };
}

/** Money comes in while events and answers are lost, doubled, late or out of order (issue: money in). */
describe(`${payments} payments of ${users} users with faults all the way`, function () {
  // Some four minutes on two idle cores.
  this.timeout(900_000);
  let service: TestService;
  let paying: Paying;
  let plans: Plan[];
  const payers: SignedIn[] = [];
  const seen = { all: 0, declined: 0, unanswered: 0, pagesPaid: 0, charged: 0 };

  before(async () => {
    const chances = takeChances('payments');
    plans = Array.from({ length: payments }, () => plan(chances));
    service = await startService({ shards: 0 });
    paying = new Paying(service);
    for (let index = 0; index < users; index += 1) payers.push(await service.signIn());
    // A young account may begin only a few top-ups a day.
    await service.db('users').update({ created_at: new Date(Date.now() - 30 * 86_400_000) });
    for (const user of payers.slice(0, users / 2)) await paying.saveCard(user);
  });
  after(async () => {
    // Thousands of receipts may still wait, and an orderly stop would wait for the mailer.
    await service.db('mail_outbox').whereNull('sent_at').delete();
    await service.stop();
  });

  /** Makes the user's payments one after the other. */
  async function payAll(user: SignedIn, own: readonly Plan[]): Promise<void> {
    for (const one of own) await payOnce(user, one);
  }

  async function payOnce(user: SignedIn, one: Plan): Promise<void> {
    if (one.fault !== undefined) await paying.order('faults', one.fault);
    const { status, body } = await checkout(user, one);
    assert.ok([200, 402, 409, 503].includes(status), JSON.stringify(body));
    if (status === 402) seen.declined += 1;
    else if (status !== 200) seen.unanswered += 1;
    else if (body.status === 'requires_payment') await payPage(body, one);
    else seen.charged += 1;
    seen.all += 1;
    if (seen.all % 250 === 0) process.stdout.write(`    ${seen.all} payments\n`);
  }

  /** A careful client: without an answer it repeats its request with its key. */
  async function checkout(user: SignedIn, one: Plan): Promise<Answer> {
    const key = { 'Idempotency-Key': `pay-${plans.indexOf(one)}` };
    const ask = (): Promise<Answer> => paying.checkout(user, one.cents, key);
    const [first, twin] = await Promise.all([ask(), one.twins ? ask() : undefined]);
    if (first.status === 200 && twin?.status === 200) {
      assert.equal(twin.body.topupId, first.body.topupId, 'twins are one top-up');
    }
    let answer = first;
    for (let tries = 0; [409, 503].includes(answer.status) && tries < 5; tries += 1) answer = await ask();
    return answer;
  }

  async function payPage({ checkoutUrl, sessionId }: AnswerBody, { twice }: Plan): Promise<void> {
    // A declined payer tries again.
    for (let tries = 0; (await paying.pay(checkoutUrl)) !== 303; tries += 1) assert.ok(tries < 10);
    seen.pagesPaid += 1;
    // The payment may be declined, and nothing is paid then.
    if (twice) await paying.order(`checkout_sessions/${sessionId}/pay_again`).catch(() => undefined);
  }

  /** Does the schedules' work of every few minutes, until nothing is left to do. */
  async function catchUp(): Promise<void> {
    await service.db('event_cursor').update({ seen_until: new Date(Date.now() - 3_600_000) });
    while ((await runBackfill(service)).missed > 0);
    await runUpkeepRound(service, 'redeliver');
    await until('every event is handled', () => nothing('processor_events', 'handled_at'), 90_000);
    await until('every charge is decided', () => nothing('topups', 'closed_at'), 90_000);
  }

  /**
   * Whether no row is left to handle. A page whose answer came too late is known to nobody and stays open: it is no
   * payment.
   */
  async function nothing(table: 'processor_events' | 'topups', column: string): Promise<boolean> {
    const query = service.db(table).whereNull(column);
    if (table === 'topups') void query.where({ status: 'processing' });
    return (await query.first('id')) === undefined;
  }

  it('end with each payment in the ledger once, and the processor’s sum', async () => {
    const queue = payers.map((user, index) => ({
      user,
      own: plans.filter((_, number) => number % users === index),
    }));
    const payings = Array.from({ length: atOnce }, async () => {
      for (let next = queue.shift(); next; next = queue.shift()) await payAll(next.user, next.own);
    });
    // A failure ends the run only after all payments have ended: the others would go on without a service.
    const failed = (await Promise.allSettled(payings)).find((end) => end.status === 'rejected');
    if (failed) throw failed.reason;
    await paying.clearFaults();
    await catchUp();
    process.stdout.write(`    ${JSON.stringify(seen)}\n`);

    assert.deepEqual(await verifyLedger(service.db), []);
    const { payment_intents: intents } = await paying.state();
    const paid = intents.filter(({ status }) => status === 'succeeded');
    const { rows: credits } = await service.db.raw<{ rows: Credit[] }>(
      `select c.cause, e.amount_cents as cents, w.user_id as "userId"
         from ledger_causes c
         join ledger_entries e on e.wallet_id = c.wallet_id and e.seq = c.seq
         join wallets w on w.id = c.wallet_id`,
    );
    assert.deepEqual(
      credits.map(({ cause, cents, userId }) => `${cause} ${cents} ${userId}`).sort(),
      paid
        .map((intent) => `payment:${intent.id} ${intent.amount_received} ${intent.metadata['user_id']}`)
        .sort(),
    );
    const { rows } = await service.db.raw<{ rows: { cents: number }[] }>(
      'select sum(amount_cents)::bigint as cents from ledger_entries',
    );
    const received = paid.reduce((sum, intent) => sum + intent.amount_received, 0);
    assert.equal(rows[0]?.cents, received);
    assert.ok(paid.length > payments * 0.9, `only ${paid.length} were paid`);
    assert.deepEqual(await service.db('parked_payments'), []);
  });

  interface Credit {
    readonly cause: string;
    readonly cents: number;
    readonly userId: string;
  }
});
