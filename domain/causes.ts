import {
  isId,
  type ApiKeyId,
  type IdPrefix,
  type InvoiceId,
  type OperationId,
  type PasskeyId,
  type RentalId,
  type SshKeyId,
  type TopupId,
  type ChangeId,
  type UserId,
  type WebhookId,
} from './ids.js';
import { causePrefixes, reversalReturned } from './cause-prefixes.js';
import { instantOf, monthPattern } from './instants.js';

/**
 * The reason for which a row was written. It is unique in its table for ever, so a process that writes the row again,
 * after a crash or a retry, writes nothing. Only this file turns a cause into the text that the database holds, and
 * back.
 */
export type Cause = LedgerCause | InvoiceCause | MailCause | NoticeCause | UserNoticeCause;

/** The cause of a ledger entry that is no tick. */
export type LedgerCause =
  | Caused<'payment', { paymentId: string }>
  | Caused<'invoice_paid' | 'invoice_returned', { invoiceId: InvoiceId }>
  | Caused<'operation', { operationId: OperationId }>
  /** One rental of an order of many. */
  | Caused<'operation_rental', { operationId: OperationId; rentalId: RentalId }>
  /** The last charge of a rental. */
  | Caused<'settlement', { rentalId: RentalId }>
  /** The rest of a hold, charged only to be returned with the rest. */
  | Caused<'capture', { rentalId: RentalId }>
  | Caused<'rental_refund', { rentalId: RentalId }>
  /** Given money that lapses when its account closes; counted from 1, as money may come back after it. */
  | Caused<'closing', { userId: UserId; lapseNo: number }>
  /** A debt that is paid by the balance when its account closes. */
  | Caused<'set_off', { invoiceId: InvoiceId }>
  /** What was set off for a debt that is none any more: the money behind it came back. */
  | Caused<'set_off_returned', { invoiceId: InvoiceId }>
  | ReversalCause
  | ReversalReturned;

/** The cause of an invoice. */
export type InvoiceCause =
  | Caused<'overage', { rentalId: RentalId }>
  /** The offer to pay what an automatic top-up failed to charge. */
  | Caused<'topup_offer', { topupId: TopupId }>
  | Caused<'operation', { operationId: OperationId }>
  | ReversalCause;

/** The cause of a mail. */
export type MailCause =
  | Caused<'login_code', { codeId: number }>
  | Caused<'proof_code', { codeId: number }>
  | Caused<'receipt', { paymentId: string }>
  | Caused<'topup_failed', { topupId: TopupId }>
  | Caused<'topup_approval', { topupId: TopupId }>
  | Caused<'auto_topup_failed', { topupId: TopupId }>
  | Caused<'auto_topup_approval', { topupId: TopupId }>
  | Caused<'closing_requested', { userId: UserId }>
  | Caused<'account_exported', { userId: UserId; at: Date }>
  | Caused<'card_expired', { cardId: string }>
  | Caused<'invoice_opened', { invoiceId: InvoiceId }>
  /** Counted from 1. */
  | Caused<'invoice_reminder', { invoiceId: InvoiceId; reminderNo: number }>
  | Caused<'invoice_paid', { invoiceId: InvoiceId }>
  | Caused<'written_off', { invoiceId: InvoiceId }>
  /** The instant at which the wallet fell below the warning's level. */
  | Caused<'low_balance', { walletId: number; since: Date }>
  /** The user whose card is not charged any more; null: the mail to operators about it. */
  | Caused<'charges_held', { markId: string; userId: UserId }>
  | Caused<'charges_held', { markId: string; userId: null }>
  | Caused<'operation', { operationId: OperationId }>
  /** The sum that an order of many gave one user. */
  | Caused<'operation_user', { operationId: OperationId; userId: UserId }>
  | Caused<'operator_notice', { noticeId: number }>
  | Caused<'reconcile', { runId: number }>
  /** The oldest of the notices that the mail tells. */
  | Caused<'notice', { noticeId: number }>
  | ReversalCause
  | ReversalReturned;

/** The cause of a notice to operators. */
export type NoticeCause =
  | Caused<'refund_limit', { rentalId: RentalId }>
  | Caused<'bad_machine', { rentalId: RentalId }>
  /** A day in UTC, such as 2026-11-22: the notice is sent once a day. */
  | Caused<'no_funds' | 'unfit_account' | 'dearer_machines', { provider: string; day: string }>
  /** The closing of an account that needs a person. */
  | Caused<'closing_waits', { userId: UserId; wait: string }>;

/** The cause of a notice to a user: what happened, once. */
export type UserNoticeCause =
  /** The instant at which it was switched off. */
  | Caused<'webhook_switched_off', { webhookId: WebhookId; at: Date }>
  | Caused<'rental_ended', { rentalId: RentalId }>
  /** The instant at which it would stop. */
  | Caused<'idle_warned', { rentalId: RentalId; at: Date }>
  /** The instant at which it was switched off. */
  | Caused<'auto_topup_off', { userId: UserId; at: Date }>
  | Caused<'ssh_key_added', { keyId: SshKeyId }>
  | Caused<'passkey_added', { passkeyId: PasskeyId }>
  /** The counter that a refused one should have passed. */
  | Caused<'passkey_refused', { passkeyId: PasskeyId; counter: number }>
  | Caused<'api_key_created', { keyId: ApiKeyId }>
  | Caused<'api_key_widened', { changeId: ChangeId }>
  | Caused<'setup_acted', { actId: ChangeId }>
  | Caused<'card_saved', { cardId: string }>
  /** A month in UTC, such as 2026-11, and the share of its budget that was spent, in percent. */
  | Caused<'budget_reached', { userId: UserId; month: string; percent: number }>
  /** A month in UTC, such as 2026-10. */
  | Caused<'statement', { userId: UserId; month: string }>;

/**
 * The cause of what a refund or a dispute took. It may take more in a later round, after another one gave its part
 * back: then it has a number; null for the first round.
 */
export type ReversalCause = Caused<'reversal', Reversal & { round: number | null }>;

/** The cause of what a failed refund, or a won dispute, gave back. */
type ReversalReturned = Caused<'reversal_returned', Reversal>;

interface Reversal {
  reversal: 'refund' | 'dispute';
  /** The processor's id. */
  id: string;
}

type Caused<Kind extends string, Facts> = Kind extends string ? Readonly<{ kind: Kind } & Facts> : never;

/**
 * Writes the text of a cause, as the database holds it.
 * @throws Error for an id that would read as something else, such as one of the processor's that ends as a round does
 */
export function causeOf(cause: Cause): string {
  const text = write(cause);
  if (!isSame(parseCause(text), cause)) throw new Error(`the cause ${text} would read as another one`);
  return text;
}

/** Reads a text that `causeOf` has written; undefined for any other text. */
export function parseCause(text: string): Cause | undefined {
  const [word, rest] = cut(text, text.indexOf(':'));
  return rest === '' ? undefined : readers.get(word)?.(rest);
}

type Kind = Cause['kind'];
type Of<K extends Kind> = Extract<Cause, { kind: K }>;

function write<K extends Kind>(cause: Of<K>): string {
  const { kind }: { kind: K } = cause;
  const writer: (cause: Of<K>) => string = writers[kind];
  return writer(cause);
}

const writers: { readonly [K in Kind]: (cause: Of<K>) => string } = {
  payment: ({ paymentId }) => causePrefixes.payment + paymentId,
  invoice_paid: ({ invoiceId }) => `invoice-paid:${invoiceId}`,
  invoice_returned: ({ invoiceId }) => causePrefixes.invoiceReturned + invoiceId,
  operation: ({ operationId }) => causePrefixes.operation + operationId,
  operation_rental: ({ operationId, rentalId }) => `${causePrefixes.operation}${operationId}:${rentalId}`,
  operation_user: ({ operationId, userId }) => `${causePrefixes.operation}${operationId}:${userId}`,
  settlement: ({ rentalId }) => causePrefixes.settlement + rentalId,
  capture: ({ rentalId }) => `capture:${rentalId}`,
  rental_refund: ({ rentalId }) => `refund:${rentalId}`,
  closing: ({ userId, lapseNo }) => `closing:${userId}:${lapseNo}`,
  set_off: ({ invoiceId }) => `set-off:${invoiceId}`,
  set_off_returned: ({ invoiceId }) => `set-off-returned:${invoiceId}`,
  reversal: ({ reversal, id, round }) => `${reversal}:${id}${round === null ? '' : `:${round}`}`,
  reversal_returned: ({ reversal, id }) => reversal + reversalReturned + id,
  overage: ({ rentalId }) => `overage:${rentalId}`,
  topup_offer: ({ topupId }) => `topup_failed:${topupId}`,
  login_code: ({ codeId }) => `code:${codeId}`,
  proof_code: ({ codeId }) => `proof-code:${codeId}`,
  receipt: ({ paymentId }) => `receipt:${paymentId}`,
  topup_failed: ({ topupId }) => `topup-failed:${topupId}`,
  topup_approval: ({ topupId }) => `topup-approval:${topupId}`,
  auto_topup_failed: ({ topupId }) => `auto-topup-failed:${topupId}`,
  auto_topup_approval: ({ topupId }) => `auto-topup-approval:${topupId}`,
  closing_requested: ({ userId }) => `closing-requested:${userId}`,
  account_exported: ({ userId, at }) => `account-exported:${userId}:${at.toISOString()}`,
  card_expired: ({ cardId }) => `card-expired:${cardId}`,
  invoice_opened: ({ invoiceId }) => `invoice-opened:${invoiceId}`,
  written_off: ({ invoiceId }) => `written-off:${invoiceId}`,
  invoice_reminder: ({ invoiceId, reminderNo }) => `invoice-reminder:${invoiceId}:${reminderNo}`,
  low_balance: ({ walletId, since }) => `low_balance:${walletId}:${since.toISOString()}`,
  charges_held: ({ markId, userId }) => `charges-held:${markId}:${userId ?? 'operators'}`,
  webhook_switched_off: ({ webhookId, at }) => `webhook-off:${webhookId}:${at.toISOString()}`,
  operator_notice: ({ noticeId }) => `operator-notice:${noticeId}`,
  reconcile: ({ runId }) => `reconcile:${runId}`,
  notice: ({ noticeId }) => `notice:${noticeId}`,
  rental_ended: ({ rentalId }) => `rental-ended:${rentalId}`,
  idle_warned: ({ rentalId, at }) => `idle-warned:${rentalId}:${at.toISOString()}`,
  auto_topup_off: ({ userId, at }) => `auto-topup-off:${userId}:${at.toISOString()}`,
  ssh_key_added: ({ keyId }) => `ssh-key-added:${keyId}`,
  passkey_added: ({ passkeyId }) => `passkey-added:${passkeyId}`,
  passkey_refused: ({ passkeyId, counter }) => `passkey-refused:${passkeyId}:${counter}`,
  api_key_created: ({ keyId }) => `api-key-created:${keyId}`,
  api_key_widened: ({ changeId }) => `api-key-widened:${changeId}`,
  setup_acted: ({ actId }) => `setup-acted:${actId}`,
  card_saved: ({ cardId }) => `card-saved:${cardId}`,
  budget_reached: ({ userId, month, percent }) => `budget-reached:${userId}:${month}:${percent}`,
  statement: ({ userId, month }) => `statement:${userId}:${month}`,
  refund_limit: ({ rentalId }) => `refund-limit:${rentalId}`,
  bad_machine: ({ rentalId }) => `bad-machine:${rentalId}`,
  no_funds: ({ provider, day }) => `no-funds:${provider}:${day}`,
  closing_waits: ({ userId, wait }) => `closing-waits:${userId}:${wait}`,
  unfit_account: ({ provider, day }) => `unfit-account:${provider}:${day}`,
  dearer_machines: ({ provider, day }) => `dearer-machines:${provider}:${day}`,
};

type Reader = (rest: string) => Cause | undefined;

/** The readers by the word before the first colon; each gets the text after it. */
const readers: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['payment', (paymentId) => ({ kind: 'payment', paymentId })],
  ['invoice-paid', ofInvoice('invoice_paid')],
  ['invoice-returned', ofInvoice('invoice_returned')],
  ['operation', readOperation],
  ['settle', (rest) => withId('rent', rest, (rentalId) => ({ kind: 'settlement', rentalId }))],
  ['capture', (rest) => withId('rent', rest, (rentalId) => ({ kind: 'capture', rentalId }))],
  [
    'refund',
    (rest) =>
      withId('rent', rest, (rentalId) => ({ kind: 'rental_refund', rentalId })) ?? readTaken('refund', rest),
  ],
  ['closing', readClosing],
  ['set-off', ofInvoice('set_off')],
  ['set-off-returned', ofInvoice('set_off_returned')],
  ['dispute', (rest) => readTaken('dispute', rest)],
  ['refund-returned', (id) => ({ kind: 'reversal_returned', reversal: 'refund', id })],
  ['dispute-returned', (id) => ({ kind: 'reversal_returned', reversal: 'dispute', id })],
  ['overage', (rest) => withId('rent', rest, (rentalId) => ({ kind: 'overage', rentalId }))],
  ['topup_failed', (rest) => withId('top', rest, (topupId) => ({ kind: 'topup_offer', topupId }))],
  ['code', (rest) => withNumber(rest, (codeId) => ({ kind: 'login_code', codeId }))],
  ['proof-code', (rest) => withNumber(rest, (codeId) => ({ kind: 'proof_code', codeId }))],
  ['receipt', (paymentId) => ({ kind: 'receipt', paymentId })],
  ['topup-failed', (rest) => withId('top', rest, (topupId) => ({ kind: 'topup_failed', topupId }))],
  ['topup-approval', (rest) => withId('top', rest, (topupId) => ({ kind: 'topup_approval', topupId }))],
  ['auto-topup-failed', (rest) => withId('top', rest, (topupId) => ({ kind: 'auto_topup_failed', topupId }))],
  ['auto-topup-approval', (id) => withId('top', id, (topupId) => ({ kind: 'auto_topup_approval', topupId }))],
  ['closing-requested', (rest) => withId('usr', rest, (userId) => ({ kind: 'closing_requested', userId }))],
  [
    'account-exported',
    (rest) => readAt('usr', rest, (userId, at) => ({ kind: 'account_exported', userId, at })),
  ],
  ['card-expired', (cardId) => ({ kind: 'card_expired', cardId })],
  ['invoice-opened', (rest) => withId('inv', rest, (invoiceId) => ({ kind: 'invoice_opened', invoiceId }))],
  ['written-off', (rest) => withId('inv', rest, (invoiceId) => ({ kind: 'written_off', invoiceId }))],
  ['invoice-reminder', readReminder],
  ['low_balance', readLowBalance],
  ['charges-held', readChargesHeld],
  [
    'webhook-off',
    (rest) => readAt('wh', rest, (webhookId, at) => ({ kind: 'webhook_switched_off', webhookId, at })),
  ],
  ['operator-notice', (rest) => withNumber(rest, (noticeId) => ({ kind: 'operator_notice', noticeId }))],
  ['reconcile', (rest) => withNumber(rest, (runId) => ({ kind: 'reconcile', runId }))],
  ['notice', (rest) => withNumber(rest, (noticeId) => ({ kind: 'notice', noticeId }))],
  ['rental-ended', (rest) => withId('rent', rest, (rentalId) => ({ kind: 'rental_ended', rentalId }))],
  ['idle-warned', (rest) => readAt('rent', rest, (rentalId, at) => ({ kind: 'idle_warned', rentalId, at }))],
  ['auto-topup-off', (rest) => readAt('usr', rest, (userId, at) => ({ kind: 'auto_topup_off', userId, at }))],
  ['ssh-key-added', (rest) => withId('key', rest, (keyId) => ({ kind: 'ssh_key_added', keyId }))],
  ['passkey-added', (rest) => withId('psk', rest, (passkeyId) => ({ kind: 'passkey_added', passkeyId }))],
  ['passkey-refused', readPasskeyRefused],
  ['api-key-created', (rest) => withId('key', rest, (keyId) => ({ kind: 'api_key_created', keyId }))],
  ['api-key-widened', (rest) => withId('chg', rest, (changeId) => ({ kind: 'api_key_widened', changeId }))],
  ['setup-acted', (rest) => withId('chg', rest, (actId) => ({ kind: 'setup_acted', actId }))],
  ['card-saved', (cardId) => ({ kind: 'card_saved', cardId })],
  ['budget-reached', readBudgetReached],
  ['statement', readStatementCause],
  ['bad-machine', (rest) => withId('rent', rest, (rentalId) => ({ kind: 'bad_machine', rentalId }))],
  ['refund-limit', (rest) => withId('rent', rest, (rentalId) => ({ kind: 'refund_limit', rentalId }))],
  ['no-funds', (rest) => readAtProvider('no_funds', rest)],
  [
    'closing-waits',
    (rest) => {
      const [user, wait] = cut(rest, rest.indexOf(':'));
      if (wait === '') return undefined;
      return withId('usr', user, (userId) => ({ kind: 'closing_waits', userId, wait }));
    },
  ],
  ['unfit-account', (rest) => readAtProvider('unfit_account', rest)],
  ['dearer-machines', (rest) => readAtProvider('dearer_machines', rest)],
]);

function readOperation(rest: string): Cause | undefined {
  const [operationId, of] = cut(rest, rest.indexOf(':'));
  if (!isId('op', operationId)) return undefined;
  if (operationId === rest) return { kind: 'operation', operationId };
  return (
    withId('rent', of, (rentalId) => ({ kind: 'operation_rental', operationId, rentalId })) ??
    withId('usr', of, (userId) => ({ kind: 'operation_user', operationId, userId }))
  );
}

/** A text after a second colon is a round: an id with a colon of its own is not read, and so not written. */
function readTaken(reversal: Reversal['reversal'], rest: string): Cause | undefined {
  const [id, numbered] = cut(rest, rest.indexOf(':'));
  if (id === '') return undefined;
  if (id === rest) return { kind: 'reversal', reversal, id, round: null };
  return withNumber(numbered, (round) => ({ kind: 'reversal', reversal, id, round }));
}

function readReminder(rest: string): Cause | undefined {
  const [id, numbered] = cut(rest, rest.indexOf(':'));
  return withId('inv', id, (invoiceId) =>
    withNumber(numbered, (reminderNo) => ({ kind: 'invoice_reminder', invoiceId, reminderNo })),
  );
}

function readClosing(rest: string): Cause | undefined {
  const [user, numbered] = cut(rest, rest.indexOf(':'));
  return withId('usr', user, (userId) =>
    withNumber(numbered, (lapseNo) => ({ kind: 'closing', userId, lapseNo })),
  );
}

function readLowBalance(rest: string): Cause | undefined {
  const [wallet, at] = cut(rest, rest.indexOf(':'));
  const since = instantOf(at);
  return since && withNumber(wallet, (walletId) => ({ kind: 'low_balance', walletId, since }));
}

/** What happened to something of ours at an instant. */
function readAt<P extends IdPrefix>(
  prefix: P,
  rest: string,
  make: (id: `${P}_${string}`, at: Date) => Cause,
): Cause | undefined {
  const [id, told] = cut(rest, rest.indexOf(':'));
  const at = instantOf(told);
  return at && withId(prefix, id, (known) => make(known, at));
}

function readStatementCause(rest: string): Cause | undefined {
  const [user, month] = cut(rest, rest.indexOf(':'));
  if (!monthPattern.test(month)) return undefined;
  return withId('usr', user, (userId) => ({ kind: 'statement', userId, month }));
}

function readBudgetReached(rest: string): Cause | undefined {
  const [user, reached] = cut(rest, rest.indexOf(':'));
  const [month, share] = cut(reached, reached.indexOf(':'));
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(month)) return undefined;
  return withId('usr', user, (userId) =>
    withNumber(share, (percent) => ({ kind: 'budget_reached', userId, month, percent })),
  );
}

function readPasskeyRefused(rest: string): Cause | undefined {
  const [id, count] = cut(rest, rest.indexOf(':'));
  return withId('psk', id, (passkeyId) =>
    withNumber(count, (counter) => ({ kind: 'passkey_refused', passkeyId, counter })),
  );
}

/** The last part is ours, whatever the processor's id before it is. */
function readChargesHeld(rest: string): Cause | undefined {
  const [markId, whose] = cut(rest, rest.lastIndexOf(':'));
  if (markId === '') return undefined;
  if (whose === 'operators') return { kind: 'charges_held', markId, userId: null };
  return withId('usr', whose, (userId) => ({ kind: 'charges_held', markId, userId }));
}

function readAtProvider(kind: Extract<Cause, { day: string }>['kind'], rest: string): Cause | undefined {
  const [provider, day] = cut(rest, rest.lastIndexOf(':'));
  return provider === '' || day === '' ? undefined : { kind, provider, day };
}

/** The texts before and after a colon; the whole text and an empty one where there is none. */
function cut(text: string, colon: number): [before: string, after: string] {
  return colon === -1 ? [text, ''] : [text.slice(0, colon), text.slice(colon + 1)];
}

function ofInvoice(kind: 'invoice_paid' | 'invoice_returned' | 'set_off' | 'set_off_returned'): Reader {
  return (rest) => withId('inv', rest, (invoiceId) => ({ kind, invoiceId }));
}

function withId<P extends IdPrefix>(
  prefix: P,
  text: string,
  read: (id: `${P}_${string}`) => Cause | undefined,
): Cause | undefined {
  return isId(prefix, text) ? read(text) : undefined;
}

/** Numbers as they are written: 1 is neither 01 nor 1.0. */
function withNumber(text: string, read: (number: number) => Cause): Cause | undefined {
  const number = Number(text);
  return Number.isSafeInteger(number) && number >= 0 && String(number) === text ? read(number) : undefined;
}

function isSame(one: Cause | undefined, other: Cause): boolean {
  const facts = (cause: Cause): string => JSON.stringify(Object.entries(cause).sort());
  return one !== undefined && facts(one) === facts(other);
}
