import type { ApiKey, Rental, Standing, Webhook } from '@gpu-rental/client';
import assert from 'node:assert/strict';
import { attentionOf, type Known } from '../../../clients/dashboard/src/pages/home/attention.js';

const now = Date.parse('2026-11-22T12:00:00Z');
const later = (minutes: number): string => new Date(now + minutes * 60_000).toISOString();

const calm: Known = {
  nowMs: now,
  balance: { totalCents: 5_000, openInvoicesCents: 0, openInvoiceCount: 0, runwaySeconds: 86_400 },
  standing: { blockedReason: null, chargesHeld: false, reversals: [] },
  supportContact: 'help@example.com',
  webhooks: [],
  apiKeys: [],
  isNew: false,
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
    const more = { standing: undefined, webhooks: undefined, apiKeys: undefined };
    assert.deepEqual(titles({ ...unknown, ...more }), []);
  });

  it('tells debts in sum', () => {
    const owed = { totalCents: 0, runwaySeconds: null, openInvoicesCents: 1_234, openInvoiceCount: 1 };
    assert.deepEqual(titles({ balance: owed }), ['You owe $12.34']);
    assert.deepEqual(titles({ balance: { ...owed, openInvoiceCount: 2 } }), ['You owe $12.34 on 2 invoices']);
  });

  it('tells money that ends within an hour, and that it is urgent at the end', () => {
    const lasts = (runwaySeconds: number) =>
      attentionOf({ ...calm, balance: { ...calm.balance!, runwaySeconds } });
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
      'Visa •••• 4242 has expired',
    ]);
    const near = { ...calm.card!, expMonth: 11, expYear: 2026 };
    assert.deepEqual(titles({ card: near }), ['Visa •••• 4242 expires soon']);
    assert.deepEqual(titles({ card: near, autoTopup: off }), ['Visa •••• 4242 expires soon']);
    assert.deepEqual(titles({ card: near, autoTopup: { ...off, disabledReason: 'card_expired' } }), [
      'Automatic top-ups were turned off',
    ]);
  });

  const standing = (parts: Partial<Standing>): Partial<Known> => {
    return { standing: { ...calm.standing!, ...parts } };
  };
  const asked = (parts: Partial<Known>) =>
    attentionOf({ ...calm, ...parts }).map(({ title, text, action, to }) => [title, text, action, to]);

  it('tells a block and a held card, and leads to support where somebody is named', () => {
    const blocked = standing({ blockedReason: 'fraud' });
    const held = standing({ chargesHeld: true });
    const page = 'https://help.example.com/';
    const leads = (parts: Partial<Known>) => asked(parts).map(([, , action, to]) => [action, to]);
    for (const parts of [blocked, held]) {
      assert.deepEqual(leads(parts), [['Contact support', 'mailto:help@example.com']]);
      assert.deepEqual(leads({ ...parts, supportContact: page }), [['Contact support', page]]);
    }
    assert.deepEqual(leads({ ...blocked, supportContact: undefined }), [['View activity', '/app/activity']]);
    assert.deepEqual(leads({ ...held, supportContact: undefined }), [['Go to billing', '/app/billing']]);
    const off = { ...calm.autoTopup!, enabled: false, disabledReason: 'charges_held' } as const;
    assert.deepEqual(titles({ ...held, autoTopup: off }), ['We no longer charge your card automatically']);
  });

  it('tells what was taken back, and what it cost', () => {
    const sums = { amountCents: 5_000, debitedCents: 3_000, invoicedCents: 2_000, takenAt: later(-60) };
    const dispute = { kind: 'dispute', ...sums } as const;
    assert.deepEqual(asked(standing({ reversals: [dispute] })), [
      [
        'Your bank took back $50.00',
        'We took $30.00 from your wallet. You had already spent $20.00, so you owe it on an invoice. The payment was disputed. If that was a mistake, tell your bank and support.',
        'Contact support',
        'mailto:help@example.com',
      ],
    ]);
    const refund = { kind: 'refund', ...sums, debitedCents: 0, invoicedCents: 0 } as const;
    assert.deepEqual(asked(standing({ reversals: [refund] })), [
      [
        'A payment of $50.00 was refunded',
        'We took nothing from your wallet for it.',
        'View ledger',
        '/app/ledger',
      ],
    ]);
  });

  it('tells an empty wallet, unless something runs, is owed or is being set up', () => {
    const balance = { ...calm.balance!, totalCents: 0, runwaySeconds: null };
    assert.deepEqual(titles({ balance }), ['Your wallet is empty']);
    assert.deepEqual(titles({ balance, isNew: true }), []);
    assert.deepEqual(titles({ balance: { ...balance, totalCents: 1 } }), []);
    assert.deepEqual(titles({ balance: { ...balance, openInvoiceCount: 1 } }), ['You owe $0.00']);
  });

  it('tells webhooks that fail, and for a week those that were turned off', () => {
    const hook = {
      ...{ id: 'wh_1', url: 'https://example.com/hook', state: 'enabled', failingSince: null },
      ...{ switchedOffAt: null, switchedOffReason: null },
    };
    const hooks = (parts: object) => titles({ webhooks: [{ ...hook, ...parts } as Webhook] });
    assert.deepEqual(hooks({}), []);
    assert.deepEqual(hooks({ failingSince: later(-5) }), ['Your webhook at example.com fails']);
    const off = { state: 'switched_off', switchedOffReason: 'no_success', failingSince: later(-9_000) };
    const week = 7 * 24 * 60;
    assert.deepEqual(hooks({ ...off, switchedOffAt: later(-week) }), [
      'We turned off your webhook at example.com',
    ]);
    assert.deepEqual(hooks({ ...off, switchedOffAt: later(-week - 1) }), []);
  });

  it('tells API keys in the last tenth of their time, and a week before their end at most', () => {
    const day = 24 * 60;
    const key = (madeDaysAgo: number, leftDays: number, parts: Partial<ApiKey> = {}) =>
      titles({
        apiKeys: [
          {
            ...{ id: 'key_1', name: 'ci', revokedAt: null, suspendedAt: null },
            ...{ createdAt: later(-madeDaysAgo * day), expiresAt: later(leftDays * day), ...parts },
          } as ApiKey,
        ],
      });
    assert.deepEqual(key(300, 6.5), ['The API key “ci” expires in 6 d 12 h']);
    assert.deepEqual(key(300, 7), []);
    assert.deepEqual(key(9, 1), []);
    assert.deepEqual(key(9.1, 0.9), ['The API key “ci” expires in 21 h 36 min']);
    assert.deepEqual(key(300, -1), []);
    assert.deepEqual(key(300, 2, { revokedAt: later(-1) }), []);
  });

  it('tells limits that are near, of machines that run', () => {
    assert.deepEqual(titles({ rentals: [rental({ autoStopAt: later(31) })] }), []);
    assert.deepEqual(titles({ rentals: [rental({ autoStopAt: later(12) })] }), ['rent_1: stops in 12 min']);
    const [near] = asked({ rentals: [rental({ autoStopAt: later(12) })] });
    assert.deepEqual(near?.slice(2), ['Change limits', '/app/rentals/rent_1?limits=true']);
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
