import assert from 'node:assert/strict';
import fc from 'fast-check';
import { DAY } from '../../../domain/durations.js';
import { firstBrokenLink } from '../../../domain/ledger/ledger.js';
import { finalCents } from '../../../domain/metering/metering.js';
import type { Account } from '../../../lab/mock/account.js';
import { saveAutoTopup } from '../../../lab/mock/auto-topup-settings.js';
import { removeCard, saveCard } from '../../../lab/mock/cards.js';
import { explainEntry } from '../../../lab/mock/explain.js';
import { giveUpInvoice, issueInvoice, payInvoice, readDebt } from '../../../lab/mock/invoices.js';
import { closeAccount, shownOf } from '../../../lab/mock/routes/closing.js';
import { openRental, stopRental } from '../../../lab/mock/rentals.js';
import { beginTopup, payPage } from '../../../lab/mock/topups.js';
import type { World } from '../../../lab/mock/world.js';
import { Refusal } from '../../../domain/refusal.js';
import { createTestWorld, requestOf } from './worlds.js';

const PRICE_CENTS = 3_992;
const HOUR_MS = 3_600_000;

describe('money in the mock', () => {
  let world: World;
  let account: Account;
  let live: (ms: number) => void;
  let pass: (ms: number) => void;
  let jump: (ms: number) => void;

  beforeEach(() => {
    ({ world, account, live, pass, jump } = createTestWorld());
  });

  function topUp(cents: number): void {
    const { session_id: sessionId } = beginTopup(world, account, cents);
    assert.equal(payPage(world, sessionId ?? '', false), true);
  }

  it('is credited once, however often a page is visited', () => {
    const { session_id: sessionId } = beginTopup(world, account, 500);
    for (let visit = 0; visit < 3; visit += 1) payPage(world, sessionId ?? '', false);
    assert.deepEqual([account.wallet.totalCents, account.wallet.entries.length], [500, 1]);
    assert.equal(payPage(world, 'cs_mock_other', false), false);
  });

  it('is used second by second: an entry for each second that a cent has come due', () => {
    topUp(10_000);
    const { row } = openRental(world, account, requestOf(), 'runs');
    live(2_000 + 60_000);
    assert.equal(row.status, 'running');
    assert.equal(account.wallet.entries.length, 61);
    assert.deepEqual([row.charged_cents, row.hold_cents], [66, PRICE_CENTS - 66]);
    assertAddsUp(account);
  });

  it('ends a rental at the instant at which it ends itself', () => {
    topUp(PRICE_CENTS);
    const { row } = openRental(world, account, requestOf(), 'runs');
    live(2_000 + HOUR_MS + 5_000);
    assert.deepEqual([row.status, row.stop_reason], ['stopped', 'balance_exhausted']);
    assert.equal(Number(row.ended_at) - Number(row.running_at), HOUR_MS);
    assert.deepEqual([account.wallet.totalCents, row.charged_cents], [0, PRICE_CENTS]);
    assertAddsUp(account);
  });

  it('ends a rental at its own limits, to the millisecond and to the cent', () => {
    topUp(20_000);
    const timed = openRental(world, account, requestOf({ autoStopAfterMs: 90_500 }), 'runs').row;
    const capped = openRental(world, account, requestOf({ maxSpendCents: 100 }), 'runs').row;
    live(200_000);
    assert.deepEqual([timed.stop_reason, capped.stop_reason], ['auto_stop', 'spend_limit']);
    assert.equal(Number(timed.ended_at) - Number(timed.running_at), 90_500);
    assert.equal(timed.charged_cents, finalCents(PRICE_CENTS, 90_500, null));
    assert.equal(capped.charged_cents, 100);
    assertAddsUp(account);
  });

  it('is explained by the occasion on which it was charged, also where the last tick took all of it', () => {
    topUp(20_000);
    const capped = openRental(world, account, requestOf({ maxSpendCents: 100 }), 'runs').row;
    live(100_000);
    const stopped = openRental(world, account, requestOf(), 'runs').row;
    live(2_000);
    pass(5_000);
    stopRental(world, account, stopped);
    openRental(world, account, requestOf(), 'fails');
    live(3_000);
    const occasions = account.wallet.entries
      .filter(({ type }) => type === 'rental_charge')
      .map(({ id }) => explainEntry(account, id)?.charge?.occasion);
    assert.equal(capped.charged_cents, 100);
    assert.deepEqual([...new Set(occasions.splice(0, occasions.length - 2))], ['tick']);
    assert.deepEqual(occasions, ['settlement', 'capture']);
  });

  it('is owed until a tick that comes too late to have noticed its end', () => {
    topUp(PRICE_CENTS);
    const { row } = openRental(world, account, requestOf(), 'runs');
    live(2_000);
    jump(2 * HOUR_MS);
    assert.deepEqual(
      [row.stop_reason, Number(row.ended_at) - Number(row.running_at)],
      ['balance_exhausted', 2 * HOUR_MS],
    );
    assert.deepEqual([row.charged_cents, row.overage_cents], [PRICE_CENTS, PRICE_CENTS]);
    assertAddsUp(account);
  });

  it('says what ended a rental first when its user stops it before the next tick', () => {
    topUp(PRICE_CENTS * 2);
    const timed = openRental(world, account, requestOf({ autoStopAfterMs: 90_500 }), 'runs').row;
    live(2_000);
    pass(90_600);
    stopRental(world, account, timed);
    assert.deepEqual(
      [timed.stop_reason, Number(timed.ended_at) - Number(timed.running_at)],
      ['auto_stop', 90_500],
    );
    const unpaid = openRental(world, account, requestOf(), 'runs').row;
    live(2_000);
    pass(3 * HOUR_MS);
    stopRental(world, account, unpaid);
    assert.equal(unpaid.stop_reason, 'balance_exhausted');
    assertAddsUp(account);
  });

  it('is fetched by auto-topup for what a late tick could not take, though the level was high enough', () => {
    topUp(2 * PRICE_CENTS);
    saveCard(world, account, false);
    saveAutoTopup(world, account, { enabled: true, thresholdCents: 1_000, topupAmountCents: 9_000 });
    const { row } = openRental(world, account, requestOf(), 'runs');
    live(2_000);
    jump(3 * HOUR_MS);
    assert.deepEqual([row.status, row.charged_cents], ['running', 3 * PRICE_CENTS]);
    assertAddsUp(account);
  });

  it('ends in its own millisecond, however late, when an auto-topup for it failed', () => {
    topUp(PRICE_CENTS);
    saveCard(world, account, true);
    saveAutoTopup(world, account, { enabled: true, thresholdCents: 1_000 });
    const { row } = openRental(world, account, requestOf(), 'runs');
    jump(2_000 + 2 * HOUR_MS);
    assert.equal(Number(row.ended_at) - Number(row.running_at), HOUR_MS);
    assert.deepEqual([row.stop_reason, row.overage_cents], ['balance_exhausted', 0]);
    assertAddsUp(account);
  });

  it('is owed for usage beyond the balance, which no tick has ended', () => {
    topUp(PRICE_CENTS);
    const { row } = openRental(world, account, requestOf(), 'runs');
    pass(2_000 + 2 * HOUR_MS);
    stopRental(world, account, row);
    assert.deepEqual([row.charged_cents, row.overage_cents], [PRICE_CENTS, PRICE_CENTS]);
    const [{ row: invoice, lineItems } = assert.fail('no invoice')] = account.invoices;
    assert.deepEqual(
      [invoice.reason, invoice.status, invoice.amount_cents, invoice.rental_no],
      ['overage', 'open', PRICE_CENTS, row.no],
    );
    assert.deepEqual([lineItems[0]?.periodStart, lineItems[0]?.periodEnd], [row.running_at, row.ended_at]);
    assert.deepEqual(readDebt(account), { openInvoicesCents: PRICE_CENTS, openInvoiceCount: 1 });
    const before = account.wallet.totalCents;
    payInvoice(world, account, account.invoices[0]!);
    assert.deepEqual([account.wallet.totalCents - before, readDebt(account).openInvoiceCount], [0, 0]);
  });

  for (const fate of ['fails', 'is_lost'] as const) {
    it(`comes back whole when a machine ${fate}: a charge and a refund, net 0`, () => {
      topUp(10_000);
      const { row } = openRental(world, account, requestOf(), fate);
      live(30_000);
      assert.deepEqual([row.status, row.running_at !== null], ['failed', fate === 'is_lost']);
      assert.match(row.error ?? '', /not charged/);
      const [charge, refund] = account.wallet.entries.slice(-2);
      assert.deepEqual(
        [charge?.type, refund?.type, refund?.amountCents],
        ['rental_charge', 'refund', PRICE_CENTS],
      );
      assert.deepEqual([account.wallet.totalCents, account.wallet.reservedCents], [10_000, 0]);
      assertAddsUp(account);
    });
  }

  it('is not lent for machines of own software that fail before they run: their renter may make them', () => {
    topUp(PRICE_CENTS * 3);
    const software = { ports: [] } as never;
    for (const own of [{ software: null }, { software }, { software }]) {
      const { row } = openRental(world, account, requestOf(), 'fails');
      Object.assign(row, own);
      live(2_000);
      assert.deepEqual([row.status, row.running_at], ['failed', null]);
    }
    assert.throws(() => openRental(world, account, requestOf(), 'runs'), { code: 'rate_limited' });
  });

  it('is fetched by auto-topup below the threshold, once per cooldown and up to the cap', () => {
    topUp(PRICE_CENTS + 300);
    saveCard(world, account, false);
    saveAutoTopup(world, account, {
      ...{ enabled: true, thresholdCents: 1_000, topupAmountCents: 1_000, dailyCapCents: 2_500 },
    });
    openRental(world, account, requestOf(), 'runs');
    live(10_000);
    const ofType = (): number => account.wallet.entries.filter(({ type }) => type === 'auto_topup').length;
    assert.equal(ofType(), 1);
    account.wallet.hold(800);
    live(200_000);
    assert.equal(ofType(), 1);
    live(200_000);
    assert.equal(ofType(), 2);
    account.wallet.hold(1_000);
    live(700_000);
    assert.equal(ofType(), 2);
    assert.equal(account.autoTopup?.enabled, true);
    assertAddsUp(account);
  });

  it('is asked for by an invoice when auto-topup is declined, which then is off', () => {
    topUp(PRICE_CENTS);
    saveCard(world, account, true);
    saveAutoTopup(world, account, { enabled: true, thresholdCents: 1_000 });
    openRental(world, account, requestOf(), 'runs');
    live(10_000);
    assert.deepEqual([account.autoTopup?.enabled, account.autoTopup?.disabled_why], [false, 'charge_failed']);
    const [invoice] = account.invoices;
    assert.deepEqual([invoice?.row.reason, invoice?.row.amount_cents], ['topup_failed', 2_000]);
    const before = account.wallet.totalCents;
    payInvoice(world, account, invoice!);
    payInvoice(world, account, invoice!);
    assert.deepEqual([invoice!.row.status, account.wallet.totalCents - before], ['paid', 2_000]);
    assertAddsUp(account);
  });

  it('pays an invoice that was given up, once', () => {
    const debt = { reason: 'manual', amountCents: 700, description: 'What is owed' } as const;
    const invoice = issueInvoice(world, account, debt);
    giveUpInvoice(world, account, invoice);
    assert.deepEqual([invoice.row.status, readDebt(account).openInvoiceCount], ['uncollectible', 0]);
    for (let time = 0; time < 2; time += 1) payInvoice(world, account, invoice);
    const { events } = world.events.read(account.user.id, { limit: 10 });
    assert.deepEqual(
      [invoice.row.status, ...events.map(({ type }) => type)],
      ['paid', 'invoice.opened', 'invoice.uncollectible', 'invoice.paid'],
    );
  });

  it('makes the offer of a declined auto-topup void when it comes by another way', () => {
    topUp(PRICE_CENTS);
    saveCard(world, account, true);
    saveAutoTopup(world, account, { enabled: true, thresholdCents: 1_000 });
    openRental(world, account, requestOf(), 'runs');
    live(10_000);
    removeCard(world, account);
    const status = () => account.invoices[0]?.row.status;
    topUp(1_999);
    assert.equal(status(), 'open');
    topUp(2_000);
    assert.equal(status(), 'void');
  });

  it('is offered no more once the account is being closed, also where the offer was given up', () => {
    const offer = { reason: 'topup_failed', amountCents: 700, description: 'A top-up' } as const;
    const givenUp = issueInvoice(world, account, offer);
    giveUpInvoice(world, account, givenUp);
    const open = issueInvoice(world, account, offer);
    const debt = issueInvoice(world, account, { ...offer, reason: 'manual' });
    closeAccount(world, account);
    assert.deepEqual(
      [givenUp, open, debt].map(({ row }) => row.status),
      ['void', 'void', 'open'],
    );
  });

  it('goes back to who paid an offer as to who topped up', () => {
    topUp(1_000);
    const offer = { reason: 'topup_failed', amountCents: 700, description: 'A top-up' } as const;
    const { row } = issueInvoice(world, account, offer);
    payInvoice(world, account, account.invoices[0]!);
    const { returns, lapsesCents } = shownOf(account);
    assert.deepEqual(
      returns.map(({ paymentId, amountCents }) => [paymentId, amountCents]),
      [
        [row.payment_id, 700],
        [account.topups[0]?.payment_id, 1_000],
      ],
    );
    assert.equal(lapsesCents, 0);
  });

  it('is not taken by a page that nobody paid within a day', () => {
    const topup = beginTopup(world, account, 500);
    jump(DAY - 1);
    assert.equal(topup.status, 'requires_payment');
    jump(1);
    assert.deepEqual([topup.status, payPage(world, topup.session_id ?? '', false)], ['expired', false]);
    const { events } = world.events.read(account.user.id, { limit: 10 });
    assert.deepEqual(
      events.map(({ type, entity_id, data }) => [type, entity_id, data]),
      [['topup.expired', topup.id, { amountCents: 500 }]],
    );
  });

  it('adds up whatever is done with it, and whenever one looks', () => {
    const fates = ['runs', 'runs', 'fails', 'is_lost'] as const;
    const action = fc.oneof(
      fc.record({ kind: fc.constant('topUp' as const), cents: fc.integer({ min: 100, max: 9_000 }) }),
      fc.record({ kind: fc.constant('rent' as const), fate: fc.constantFrom(...fates) }),
      fc.record({ kind: fc.constant('stop' as const), which: fc.nat(5) }),
      fc.record({ kind: fc.constant('card' as const), declines: fc.boolean() }),
      fc.record({ kind: fc.constant('live' as const), ms: fc.integer({ min: 1, max: 400_000 }) }),
    );
    fc.assert(
      fc.property(fc.array(action, { maxLength: 25 }), (actions) => {
        ({ world, account, live } = createTestWorld());
        for (const each of actions) {
          refusable(() => act(each));
          assertAddsUp(account);
        }
      }),
      { numRuns: 60 },
    );

    type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;
    function act(each: Action): void {
      if (each.kind === 'topUp') {
        const { session_id: sessionId } = beginTopup(world, account, each.cents);
        if (sessionId !== null) payPage(world, sessionId, false);
      } else if (each.kind === 'rent') {
        openRental(world, account, requestOf(), each.fate);
      } else if (each.kind === 'stop') {
        const rental = account.rentals[each.which];
        if (rental) stopRental(world, account, rental.row);
      } else if (each.kind === 'card') {
        saveCard(world, account, each.declines);
        saveAutoTopup(world, account, { enabled: true, thresholdCents: 2_000 });
      } else {
        live(each.ms);
      }
    }
  });
});

function refusable(act: () => void): void {
  try {
    act();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
  }
}

/**
 * Asserts: total = available + reserved = the newest balance; the chain holds; the reserved sum is that of the rentals'
 * holds.
 */
function assertAddsUp({ wallet, rentals }: Account): void {
  assert.ok(wallet.availableCents >= 0 && wallet.reservedCents >= 0);
  assert.equal(wallet.totalCents, wallet.availableCents + wallet.reservedCents);
  assert.equal(wallet.entries.at(-1)?.balanceAfterCents ?? 0, wallet.totalCents);
  assert.equal(firstBrokenLink(wallet.entries.toReversed(), true), undefined);
  for (const { row } of rentals) {
    const own = wallet.entries.filter(({ rentalId }) => rentalId === row.id);
    const sum = own.reduce((total, { amountCents }) => total + amountCents, 0);
    assert.equal(sum, row.refunded_cents - row.charged_cents);
  }
}
