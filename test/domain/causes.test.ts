import assert from 'node:assert/strict';
import fc from 'fast-check';
import { causeOf, parseCause, type Cause } from '../../domain/causes.js';

const ulid = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
const rentalId = `rent_${ulid}` as const;
const invoiceId = `inv_${ulid}` as const;
const operationId = `op_${ulid}` as const;
const topupId = `top_${ulid}` as const;
const userId = `usr_${ulid}` as const;
const keyId = `key_${ulid}` as const;
const passkeyId = `psk_${ulid}` as const;

/** Each cause as the database holds it since release 0.1: a changed text would be written a second time. */
const kept: readonly [text: string, cause: Cause][] = [
  ['payment:pi_1', { kind: 'payment', paymentId: 'pi_1' }],
  [`invoice-paid:inv_${ulid}`, { kind: 'invoice_paid', invoiceId }],
  [`invoice-returned:inv_${ulid}`, { kind: 'invoice_returned', invoiceId }],
  [`operation:op_${ulid}`, { kind: 'operation', operationId }],
  [`operation:op_${ulid}:rent_${ulid}`, { kind: 'operation_rental', operationId, rentalId }],
  [`operation:op_${ulid}:usr_${ulid}`, { kind: 'operation_user', operationId, userId }],
  [`settle:rent_${ulid}`, { kind: 'settlement', rentalId }],
  [`capture:rent_${ulid}`, { kind: 'capture', rentalId }],
  [`refund:rent_${ulid}`, { kind: 'rental_refund', rentalId }],
  [`closing:usr_${ulid}:2`, { kind: 'closing', userId, lapseNo: 2 }],
  [`set-off:inv_${ulid}`, { kind: 'set_off', invoiceId }],
  [`set-off-returned:inv_${ulid}`, { kind: 'set_off_returned', invoiceId }],
  [`closing-requested:usr_${ulid}`, { kind: 'closing_requested', userId }],
  [
    `account-exported:usr_${ulid}:2026-11-01T09:30:00.000Z`,
    { kind: 'account_exported', userId, at: new Date('2026-11-01T09:30:00.000Z') },
  ],
  [`closing-waits:usr_${ulid}:key`, { kind: 'closing_waits', userId, wait: 'key' }],
  ['refund:re_1', { kind: 'reversal', reversal: 'refund', id: 're_1', round: null }],
  ['dispute:dp_1:2', { kind: 'reversal', reversal: 'dispute', id: 'dp_1', round: 2 }],
  ['refund-returned:re_1', { kind: 'reversal_returned', reversal: 'refund', id: 're_1' }],
  ['dispute-returned:dp_1', { kind: 'reversal_returned', reversal: 'dispute', id: 'dp_1' }],
  [`overage:rent_${ulid}`, { kind: 'overage', rentalId }],
  [`topup_failed:top_${ulid}`, { kind: 'topup_offer', topupId }],
  ['code:7', { kind: 'login_code', codeId: 7 }],
  ['proof-code:7', { kind: 'proof_code', codeId: 7 }],
  ['receipt:pi_1', { kind: 'receipt', paymentId: 'pi_1' }],
  [`topup-failed:top_${ulid}`, { kind: 'topup_failed', topupId }],
  [`topup-approval:top_${ulid}`, { kind: 'topup_approval', topupId }],
  [`auto-topup-failed:top_${ulid}`, { kind: 'auto_topup_failed', topupId }],
  [`auto-topup-approval:top_${ulid}`, { kind: 'auto_topup_approval', topupId }],
  ['card-expired:pm_1', { kind: 'card_expired', cardId: 'pm_1' }],
  [`invoice-opened:inv_${ulid}`, { kind: 'invoice_opened', invoiceId }],
  [`written-off:inv_${ulid}`, { kind: 'written_off', invoiceId }],
  [`invoice-reminder:inv_${ulid}:3`, { kind: 'invoice_reminder', invoiceId, reminderNo: 3 }],
  [
    `webhook-off:wh_${ulid}:2026-01-02T03:04:05.678Z`,
    { kind: 'webhook_switched_off', webhookId: `wh_${ulid}`, at: new Date('2026-01-02T03:04:05.678Z') },
  ],
  [
    'low_balance:42:2026-01-02T03:04:05.678Z',
    { kind: 'low_balance', walletId: 42, since: new Date('2026-01-02T03:04:05.678Z') },
  ],
  [`charges-held:dp_1:usr_${ulid}`, { kind: 'charges_held', markId: 'dp_1', userId }],
  ['charges-held:issfr_1:operators', { kind: 'charges_held', markId: 'issfr_1', userId: null }],
  ['operator-notice:9', { kind: 'operator_notice', noticeId: 9 }],
  ['reconcile:12', { kind: 'reconcile', runId: 12 }],
  ['notice:7', { kind: 'notice', noticeId: 7 }],
  [`rental-ended:rent_${ulid}`, { kind: 'rental_ended', rentalId }],
  [
    `idle-warned:rent_${ulid}:2026-01-02T03:04:05.678Z`,
    { kind: 'idle_warned', rentalId, at: new Date('2026-01-02T03:04:05.678Z') },
  ],
  [
    `auto-topup-off:usr_${ulid}:2026-01-02T03:04:05.678Z`,
    { kind: 'auto_topup_off', userId, at: new Date('2026-01-02T03:04:05.678Z') },
  ],
  [`api-key-created:key_${ulid}`, { kind: 'api_key_created', keyId }],
  [`ssh-key-added:key_${ulid}`, { kind: 'ssh_key_added', keyId }],
  [`passkey-added:psk_${ulid}`, { kind: 'passkey_added', passkeyId }],
  [`passkey-refused:psk_${ulid}:12`, { kind: 'passkey_refused', passkeyId, counter: 12 }],
  [`api-key-widened:chg_${ulid}`, { kind: 'api_key_widened', changeId: `chg_${ulid}` }],
  [`setup-acted:chg_${ulid}`, { kind: 'setup_acted', actId: `chg_${ulid}` }],
  ['card-saved:pm_1', { kind: 'card_saved', cardId: 'pm_1' }],
  [
    `budget-reached:usr_${ulid}:2026-11:80`,
    { kind: 'budget_reached', userId, month: '2026-11', percent: 80 },
  ],
  [`statement:usr_${ulid}:2026-10`, { kind: 'statement', userId, month: '2026-10' }],
  [`refund-limit:rent_${ulid}`, { kind: 'refund_limit', rentalId }],
  [`bad-machine:rent_${ulid}`, { kind: 'bad_machine', rentalId }],
  ['no-funds:runpod:2026-01-02', { kind: 'no_funds', provider: 'runpod', day: '2026-01-02' }],
  ['dearer-machines:vast:2026-01-02', { kind: 'dearer_machines', provider: 'vast', day: '2026-01-02' }],
  ['unfit-account:vast:2026-01-02', { kind: 'unfit_account', provider: 'vast', day: '2026-01-02' }],
];

const ulids = fc
  .array(fc.constantFrom(...'0123456789ABCDEFGHJKMNPQRSTVWXYZ'.split('')), { minLength: 26, maxLength: 26 })
  .map((letters) => letters.join(''));
const ours = <P extends string>(prefix: P) => ulids.map((id): `${P}_${string}` => `${prefix}_${id}`);
const number = fc.maxSafeNat();
/** The worst ids that the processor might send: wildcards, colons, and the parts of our own causes. */
const foreign = fc.oneof(
  fc.string({ minLength: 1 }),
  fc
    .array(
      fc.constantFrom(
        '%',
        '_',
        ':',
        '\\',
        '1',
        '2',
        're',
        'pi',
        'refund',
        'operators',
        '-returned',
        rentalId,
      ),
      { minLength: 1 },
    )
    .map((parts) => parts.join('')),
);
const reversal = fc.constantFrom('refund' as const, 'dispute' as const);

type Facts<K extends Cause['kind']> = Omit<Extract<Cause, { kind: K }>, 'kind'>;

/** Any facts of each kind. */
const facts: { readonly [K in Cause['kind']]: fc.Arbitrary<Facts<K>> } = {
  payment: fc.record({ paymentId: foreign }),
  invoice_paid: fc.record({ invoiceId: ours('inv') }),
  invoice_returned: fc.record({ invoiceId: ours('inv') }),
  operation: fc.record({ operationId: ours('op') }),
  operation_rental: fc.record({ operationId: ours('op'), rentalId: ours('rent') }),
  operation_user: fc.record({ operationId: ours('op'), userId: ours('usr') }),
  settlement: fc.record({ rentalId: ours('rent') }),
  capture: fc.record({ rentalId: ours('rent') }),
  rental_refund: fc.record({ rentalId: ours('rent') }),
  reversal: fc.record({ reversal, id: foreign, round: fc.option(number) }),
  reversal_returned: fc.record({ reversal, id: foreign }),
  overage: fc.record({ rentalId: ours('rent') }),
  topup_offer: fc.record({ topupId: ours('top') }),
  login_code: fc.record({ codeId: number }),
  proof_code: fc.record({ codeId: number }),
  receipt: fc.record({ paymentId: foreign }),
  topup_failed: fc.record({ topupId: ours('top') }),
  topup_approval: fc.record({ topupId: ours('top') }),
  auto_topup_failed: fc.record({ topupId: ours('top') }),
  auto_topup_approval: fc.record({ topupId: ours('top') }),
  card_expired: fc.record({ cardId: foreign }),
  invoice_opened: fc.record({ invoiceId: ours('inv') }),
  written_off: fc.record({ invoiceId: ours('inv') }),
  invoice_reminder: fc.record({ invoiceId: ours('inv'), reminderNo: number }),
  webhook_switched_off: fc.record({
    webhookId: fc.constant(`wh_${ulid}` as const),
    at: fc.date({ noInvalidDate: true, min: new Date(0), max: new Date('9999-12-31') }),
  }),
  idle_warned: fc.record({
    rentalId: ours('rent'),
    at: fc.date({ noInvalidDate: true, min: new Date(0), max: new Date('9999-12-31') }),
  }),
  low_balance: fc.record({ walletId: number, since: fc.date({ noInvalidDate: true }) }),
  charges_held: fc.record({ markId: foreign, userId: fc.option(ours('usr')) }),
  operator_notice: fc.record({ noticeId: number }),
  reconcile: fc.record({ runId: number }),
  notice: fc.record({ noticeId: number }),
  rental_ended: fc.record({ rentalId: ours('rent') }),
  auto_topup_off: fc.record({ userId: ours('usr'), at: fc.date({ noInvalidDate: true }) }),
  passkey_added: fc.record({ passkeyId: ours('psk') }),
  passkey_refused: fc.record({ passkeyId: ours('psk'), counter: number }),
  ssh_key_added: fc.record({ keyId: ours('key') }),
  api_key_created: fc.record({ keyId: ours('key') }),
  api_key_widened: fc.record({ changeId: ours('chg') }),
  setup_acted: fc.record({ actId: ours('chg') }),
  card_saved: fc.record({ cardId: foreign }),
  budget_reached: fc.record({
    userId: ours('usr'),
    month: fc.constantFrom('2026-01', '2027-12'),
    percent: number,
  }),
  statement: fc.record({ userId: ours('usr'), month: fc.constantFrom('2026-01', '2027-12') }),
  refund_limit: fc.record({ rentalId: ours('rent') }),
  bad_machine: fc.record({ rentalId: ours('rent') }),
  no_funds: fc.record({ provider: foreign, day: fc.constantFrom('2026-01-02', '2027-12-31') }),
  closing_requested: fc.record({ userId: ours('usr') }),
  account_exported: fc.record({ userId: ours('usr'), at: fc.date({ noInvalidDate: true }) }),
  closing: fc.record({ userId: ours('usr'), lapseNo: number }),
  set_off: fc.record({ invoiceId: ours('inv') }),
  set_off_returned: fc.record({ invoiceId: ours('inv') }),
  closing_waits: fc.record({ userId: ours('usr'), wait: fc.constantFrom('key', 'refused_refunds') }),
  unfit_account: fc.record({ provider: foreign, day: fc.constantFrom('2026-01-02', '2027-12-31') }),
  dearer_machines: fc.record({ provider: foreign, day: fc.constantFrom('2026-01-02', '2027-12-31') }),
};
const kinds = Object.keys(facts) as Cause['kind'][];
const anyOf = (kind: Cause['kind']): fc.Arbitrary<Cause> =>
  facts[kind].map((some) => ({ kind, ...some }) as Cause);
const causes = fc.constantFrom(...kinds).chain(anyOf);

/** The text of a cause; undefined for ids that have none. */
function textOf(cause: Cause): string | undefined {
  try {
    return causeOf(cause);
  } catch {
    return undefined;
  }
}

describe('causes', () => {
  it('of each kind are written as they always were, and read back', () => {
    assert.deepEqual([...new Set(kept.map(([, { kind }]) => kind))].sort(), [...kinds].sort());
    for (const [text, cause] of kept) {
      assert.equal(causeOf(cause), text);
      assert.deepEqual(parseCause(text), cause);
    }
  });

  for (const kind of kinds) {
    it(`read back as what was written: ${kind}`, () => {
      fc.assert(
        fc.property(anyOf(kind), (cause) => {
          const text = textOf(cause);
          if (text !== undefined) assert.deepEqual(parseCause(text), cause);
        }),
      );
    });
  }

  it('are refused only where an id of a refund or a dispute reads as another cause', () => {
    fc.assert(
      fc.property(causes, (cause) => {
        const isRefused = textOf(cause) === undefined;
        assert.ok(
          !isRefused || (cause.kind === 'reversal' && (cause.id.includes(':') || cause.id === rentalId)),
        );
      }),
      { numRuns: 1_000 },
    );
    for (const id of ['re_1:2', 're:1', rentalId]) {
      assert.throws(() => causeOf({ kind: 'reversal', reversal: 'refund', id, round: null }), /another one/);
    }
  });

  it('never have one text for two things, whatever is in the ids', () => {
    fc.assert(
      fc.property(causes, causes, (one, other) => {
        const texts = [textOf(one), textOf(other)];
        if (texts[0] !== undefined && texts[0] === texts[1]) assert.deepEqual(one, other);
      }),
      { numRuns: 2_000 },
    );
    // The wildcards of `like`, and ids that begin alike.
    const near = ['re_1', 're%1', 're_12', 'reX1', 're_1%', '%', '_'];
    const texts = near.flatMap((id) =>
      [null, 1, 2].map((round) => causeOf({ kind: 'reversal', reversal: 'refund', id, round })),
    );
    assert.equal(new Set(texts).size, texts.length);
  });

  it('are not read from what is none', () => {
    for (const text of [
      '',
      'payment',
      'payment:',
      'test:1',
      ':',
      'refund:re_1:',
      'refund:re_1:02',
      'code:-1',
    ]) {
      assert.equal(parseCause(text), undefined, text);
    }
    assert.equal(parseCause(`operation:op_${ulid}:top_${ulid}`), undefined);
    assert.equal(parseCause('low_balance:42:2026-01-02'), undefined);
    assert.equal(parseCause(`auto-topup-off:usr_${ulid}:2026-01-02`), undefined);
  });
});
