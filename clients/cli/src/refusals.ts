import { isApiError, type AnyApiError } from '@gpu-rental/client';
import type { ExitKind } from './exit-codes.js';
import { Failure, inTerminal } from './failure.js';
import { faultWords, misfitWords } from './fields.js';
import { usd } from './output/money.js';
import { duration } from './output/time.js';

/** What a refusal means here: its kind, and the next step in terms of this command. */
export interface Advice {
  readonly kind: ExitKind;
  /** The next step; undefined where a wrong command line is led to the command's own help. */
  readonly next: string | undefined;
  /** Where the service's own words name something that this command calls differently. */
  readonly message?: string;
}

const signIn = 'Sign in with: gpu login';
const otherKey: Advice = {
  kind: 'refused',
  next: 'Use a key that can do this: gpu keys, or sign in again with: gpu login',
};

const fixed: Readonly<Record<string, Advice>> = {
  software_unsupported: {
    kind: 'refused',
    next: 'Change what does not fit, or rent another machine: gpu offers lists them.',
  },
  idle_guard_unsupported: {
    kind: 'refused',
    next: 'Leave out --stop-when-idle and --telemetry, or let it ignore who is logged in: --ignore-sessions',
  },
  account_closing: {
    kind: 'refused',
    message: 'This account is being closed, so nothing new can begin.',
    next: 'See how far it is with: gpu account closing',
  },
  no_idle_guard: {
    kind: 'refused',
    message: 'This machine has no idle guard, so it doesn’t stop for being idle.',
    next: 'Set one with: gpu extend --stop-when-idle 30m',
  },
  proof_not_ready: { kind: 'refused', next: 'Ask for it then, or for an earlier month.' },
  unauthorized: { kind: 'signedOut', next: signIn },
  key_unknown: { kind: 'signedOut', next: signIn },
  key_expired: { kind: 'signedOut', next: signIn },
  key_revoked: { kind: 'signedOut', next: signIn },
  key_suspended: { kind: 'signedOut', next: signIn },
  code_invalid: { kind: 'signedOut', next: 'Ask for a new code with: gpu login' },
  passkey_invalid: { kind: 'signedOut', next: 'Sign in with a code: gpu login' },
  key_address: { kind: 'refused', next: 'Use a key that is allowed from here: gpu keys' },
  key_scope: otherKey,
  export_running: { kind: 'refused', next: 'Wait until that download ends, then run the command again.' },
  // What takes a session asks for a code by itself: here a key met what it may not see.
  session_required: otherKey,
  fresh_sign_in_required: { kind: 'refused', next: inTerminal },
  key_ends_own: {
    kind: 'refused',
    next: 'Stop it with your own sign-in: gpu stop, without the agent’s key.',
  },
  key_setup: { kind: 'refused', next: inTerminal },
  card_declined: { kind: 'noMoney', next: 'Pay with another card: gpu pay' },
  cap_reserved: {
    kind: 'noMoney',
    next: 'See what reserves the rest with: gpu ls. Stop a machine, lower its --max-spend with gpu extend, or raise the cap with: gpu keys change',
  },
  budget_reserved: {
    kind: 'noMoney',
    next: 'See what reserves the rest with: gpu ls. Stop a machine, lower its --max-spend with gpu extend, or raise the budget with: gpu budget set',
  },
  not_found: {
    kind: 'notFound',
    message: 'The service does not know this request.',
    next: 'It may be older than this command, or another service: check --url',
  },
  method_not_allowed: {
    kind: 'refused',
    message: 'The service does not know this request.',
    next: 'It may be older than this command, or another service: check --url',
  },
  unknown_family: { kind: 'usage', next: 'See what is available with: gpu offers' },
  quote_expired: { kind: 'notAvailable', next: 'Get a new price with: gpu rent' },
  price_changed: { kind: 'notAvailable', next: 'Get a new price with: gpu rent' },
  endpoint_not_found: { kind: 'notFound', next: 'See its ports with: gpu show' },
  quote_not_found: { kind: 'notFound', next: 'Get a quote with: gpu quote' },
  rental_not_found: { kind: 'notFound', next: 'See your rentals with: gpu ls --all' },
  topup_not_found: { kind: 'notFound', next: 'See your payments with: gpu topup' },
  invoice_not_found: { kind: 'notFound', next: 'See your invoices with: gpu invoices' },
  key_not_found: { kind: 'notFound', next: 'See your keys with: gpu keys' },
  webhook_not_found: { kind: 'notFound', next: 'See your webhooks with: gpu webhooks list' },
  webhook_not_enabled: { kind: 'refused', next: 'See its state with: gpu webhooks list' },
  already_stopped: { kind: 'refused', next: 'See what it cost with: gpu show' },
  rental_ending: { kind: 'refused', next: 'See what it cost with: gpu show' },
  no_saved_card: {
    kind: 'refused',
    message: 'You have no saved card, or it has expired.',
    next: 'Save one first: gpu card add',
  },
  duplicate_key: { kind: 'usage', next: 'See your keys with: gpu keys ssh' },
  idempotency_conflict: { kind: 'usage', next: 'Use another --idempotency-key for another request.' },
};

/** Finds the kind of a refusal, and the step that leads on. */
export function adviceFor(error: AnyApiError): Advice {
  const advice = unlimitedAdvice(error) ?? fixed[error.code];
  const message = reservedWords(error) ?? unfitWords(error);
  if (advice && message !== undefined) return { ...advice, message };
  return advice ?? byDetails(error) ?? byStatus(error);
}

/** A refusal as the service words it, for who programs against it: of the same kind as anywhere else. */
export function inServiceWords(error: AnyApiError): Failure {
  const { kind, next } = isApiError(error, 'session_required')
    ? { kind: 'refused' as const, next: inTerminal }
    : adviceFor(error);
  const { message, code, details } = error;
  return new Failure(kind, message, next, { cause: error, code, details });
}

/** A cap or a hard budget is refused while machines live that have no limit: they are named, and what to do. */
function unlimitedAdvice(error: AnyApiError): Advice | undefined {
  if (!isApiError(error, 'cap_reserved') && !isApiError(error, 'budget_reserved')) return undefined;
  const ids = (error.details.unlimited ?? []).map(({ rentalId }) => rentalId.slice(-6));
  const [first] = ids;
  if (first === undefined) return undefined;
  const what =
    error.code === 'cap_reserved'
      ? 'This key can’t have a cap while it has machines'
      : 'You can’t set a hard budget while you have machines';
  return {
    kind: 'refused',
    message: `${what} without a spending limit: ${ids.join(', ')}.`,
    next: `Set a limit for each first, such as: gpu extend ${first} --max-spend 20. Or stop it: gpu stop ${first}`,
  };
}

/** What a cap or a budget leaves, and which machines hold the rest. */
function reservedWords(error: AnyApiError): string | undefined {
  if (!isApiError(error, 'cap_reserved') && !isApiError(error, 'budget_reserved')) return undefined;
  const { askedCents, leftCents, limitCents, reservedBy = [] } = error.details;
  if (limitCents === undefined || leftCents === undefined) return undefined;
  const what = error.code === 'cap_reserved' ? 'This key’s cap' : 'This month’s budget';
  const holders = reservedBy.map(({ rentalId }) => rentalId.slice(-6)).join(', ');
  const held = holders === '' ? '' : ` Reserved by: ${holders}.`;
  return `${what} is ${usd(limitCents)}. ${usd(leftCents)} is left, and this may cost ${usd(askedCents)}.${held}`;
}

/** What no provider can do, in the words of this command. A refusal made on demand has no details. */
function unfitWords(error: AnyApiError): string | undefined {
  if (!isApiError(error, 'software_unsupported') && !isApiError(error, 'idle_guard_unsupported'))
    return undefined;
  // A machine that is there is told of in the service's words.
  if (!error.message.startsWith('No provider with such a machine')) return undefined;
  const details = error.details as Partial<typeof error.details> | undefined;
  return details?.misfits?.length ? misfitWords(details.misfits) : undefined;
}

function byDetails(error: AnyApiError): Advice | undefined {
  if (isApiError(error, 'insufficient_balance')) {
    const { requiredCents, availableCents } = error.details;
    const missing = Math.max(1, Math.ceil((requiredCents - availableCents) / 100));
    return {
      kind: 'noMoney',
      message: `Your wallet must cover the first hour, ${usd(requiredCents)}. You have ${usd(availableCents)} available.`,
      next: `Add at least ${usd(missing * 100)}: gpu pay ${missing}`,
    };
  }
  if (isApiError(error, 'model_unavailable')) {
    const others = error.details.alternatives;
    const named = others.map(
      ({ family, gpuCount, region, regionCode, pricePerHourCents }) =>
        `gpu rent ${family} --gpus ${gpuCount} --region ${regionCode} (${region}, ${usd(pricePerHourCents)} an hour)`,
    );
    return {
      kind: 'notAvailable',
      next:
        named.length === 0
          ? 'See what is available with: gpu offers'
          : `Available now, once you add your other options: ${named.join(', ')}`,
    };
  }
  if (isApiError(error, 'blocked'))
    return {
      kind: 'refused',
      next: whenBlocked[error.details.reason] ?? 'Contact support, and mention this request.',
    };
  return whenInvalid(error);
}

function whenInvalid(error: AnyApiError): Advice | undefined {
  const isInvalid =
    isApiError(error, 'validation_failed') ||
    isApiError(error, 'invalid_amount') ||
    isApiError(error, 'invalid_count') ||
    isApiError(error, 'invalid_email');
  if (!isInvalid) return undefined;
  const faults = error.details?.fields ?? [];
  return {
    kind: 'usage',
    next: undefined,
    ...(faults.length > 0 && { message: faultWords(faults) }),
  };
}

const whenBlocked: Readonly<Record<string, string>> = {
  unpaid_invoice: 'Pay the open invoice first: gpu invoices',
  too_many_rentals: 'Stop one of your machines first: gpu ls',
};

function byStatus({ status, retryAfterSeconds }: AnyApiError): Advice {
  const wait = retryAfterSeconds === undefined ? 'in a moment' : `in ${duration(retryAfterSeconds)}`;
  if (status >= 500 || status === 429) return { kind: 'server', next: `Try again ${wait}.` };
  if (status === 401) return { kind: 'signedOut', next: signIn };
  if (status === 402) return { kind: 'noMoney', next: 'Add money with: gpu pay' };
  if (status === 404) return { kind: 'notFound', next: 'Check the id.' };
  if (status === 400 || status === 413 || status === 415) return { kind: 'usage', next: undefined };
  return { kind: 'refused', next: 'See your account with: gpu balance' };
}
