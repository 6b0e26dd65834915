import type { Rental } from '@gpu-rental/client';
import assert from 'node:assert/strict';
import { attentionOf, type Known } from '../../../clients/dashboard/src/pages/home/attention.js';

const now = Date.parse('2026-11-22T12:00:00Z');
const later = (minutes: number): string => new Date(now + minutes * 60_000).toISOString();

const calm: Known = {
  nowMs: now,
  balance: { openInvoicesCents: 0, openInvoiceCount: 0, runwaySeconds: 86_400 },
  autoTopup: {
    ...{ enabled: true, thresholdCents: 500, topupAmountCents: 2_000 },
    ...{ dailyCapCents: null, disabledReason: null, nextAttemptAt: null },
  },
  card: { brand: 'visa', last4: '4242', expMonth: 12, expYear: 2030, pmId: 'pm_1' },
  budget: {
    ...{ monthlyCents: 10_000, hard: false, month: '2026-11', monthEndsAt: later(20_000) },
    ...{ spentCents: 7_999, reservedCents: 0, leftCents: 2_001, alertPercents: [] },
  },
  rentals: [],
  chargedCents: () => 0,
  nameOf: ({ id }) => id,
};

const rental = (parts: Partial<Rental>): Rental =>
  ({
    id: 'rent_1',
    status: 'running',
    autoStopAt: null,
    maxSpendCents: null,
    warnings: [],
    ...parts,
  }) as Rental;

const titles = (parts: Partial<Known>): string[] =>
  attentionOf({ ...calm, ...parts }).map(({ title }) => title);

describe('what the overview says needs somebody', () => {
  it('is nothing while all is well, and while nothing is known', () => {
    assert.deepEqual(titles({}), []);
    const unknown = { balance: undefined, autoTopup: undefined, card: undefined, budget: undefined };
    assert.deepEqual(titles(unknown), []);
  });

  it('tells debts in sum', () => {
    const owed = { runwaySeconds: null, openInvoicesCents: 1_234, openInvoiceCount: 1 };
    assert.deepEqual(titles({ balance: owed }), ['You owe $12.34']);
    assert.deepEqual(titles({ balance: { ...owed, openInvoiceCount: 2 } }), ['You owe $12.34 on 2 invoices']);
  });

  it('tells money that ends within an hour, and that it is urgent at the end', () => {
    const lasts = (runwaySeconds: number) =>
      attentionOf({ ...calm, balance: { openInvoicesCents: 0, openInvoiceCount: 0, runwaySeconds } });
    assert.deepEqual(lasts(3_600), []);
    assert.equal(lasts(3_599)[0]?.tone, 'warn');
    assert.equal(lasts(899)[0]?.tone, 'bad');
    assert.equal(lasts(899)[0]?.title, 'Your balance lasts 15 min');
    assert.equal(lasts(0)[0]?.title, 'Your balance lasts 1 min');
  });

  it('tells why auto-topup will not help', () => {
    const off = { ...calm.autoTopup!, enabled: false };
    assert.deepEqual(titles({ autoTopup: off }), []);
    assert.deepEqual(titles({ autoTopup: { ...off, disabledReason: 'card_expired' } }), [
      'Automatic top-ups were turned off',
    ]);
    const none = { brand: null, last4: null, expMonth: null, expYear: null, pmId: null };
    assert.deepEqual(titles({ card: none }), ['Automatic top-ups have no card to charge']);
    assert.deepEqual(titles({ card: { ...calm.card!, expMonth: 10, expYear: 2026 } }), [
      'Your saved card has expired',
    ]);
    assert.deepEqual(titles({ card: { ...calm.card!, expMonth: 11, expYear: 2026 } }), [
      'Your saved card expires soon',
    ]);
  });

  it('tells limits that are near, of machines that run', () => {
    assert.deepEqual(titles({ rentals: [rental({ autoStopAt: later(31) })] }), []);
    assert.deepEqual(titles({ rentals: [rental({ autoStopAt: later(12) })] }), ['rent_1: stops in 12 min']);
    assert.deepEqual(titles({ rentals: [rental({ autoStopAt: later(12), status: 'stopping' })] }), []);
    const spent = (cents: number) => ({
      rentals: [rental({ maxSpendCents: 1_000 })],
      chargedCents: () => cents,
    });
    assert.deepEqual(titles(spent(899)), []);
    assert.deepEqual(titles(spent(900)), ['rent_1: stops after another $1.00']);
  });

  it('tells what the service warns of, also of what it does not know', () => {
    const warnings = ['ssh_unreachable', 'of_the_future'] as unknown as Rental['warnings'];
    assert.deepEqual(titles({ rentals: [rental({ warnings })] }), [
      'rent_1: SSH does not answer',
      'rent_1: something is wrong',
    ]);
  });

  it('tells a budget that is nearly spent, and puts the worst first', () => {
    const budget = { ...calm.budget!, spentCents: 8_000 };
    assert.deepEqual(titles({ budget }), ['You have spent 80% of this month’s budget']);
    assert.deepEqual(titles({ budget: { ...budget, monthlyCents: 0 } }), []);
    const hard = { ...budget, hard: true, spentCents: 10_000 };
    const changed = rental({ warnings: ['no_ssh_key'] });
    assert.deepEqual(titles({ budget: hard, rentals: [changed] }), [
      'You have spent 100% of this month’s budget',
      'rent_1: it has no SSH key',
    ]);
  });
});
