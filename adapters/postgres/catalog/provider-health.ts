import type { AccountBalance, ProviderError } from '../../providers/provider.js';
import { catalogLimits } from '../../../domain/catalog/limits.js';
import { MINUTE } from '../../../domain/durations.js';
import { machineLimits } from '../../../domain/machines/limits.js';
import { noFundsMail, unfitAccountMail } from '../../../domain/mails/operators.js';
import type { GuardMisfit } from '../../../domain/rentals/idle-guard.js';
import { misfitsOfWish, type JudgedWish } from '../../../domain/rentals/misfits.js';
import { ownSoftwareId, type Misfit } from '../../../domain/rentals/software.js';
import type { Database } from '../database.js';
import { recordNotice } from '../operators/operator-notices.js';
import type { ProviderRow } from '../rows/tables.js';

/** Why an upstream's offers are not for sale for a while. */
export type OutReason = NonNullable<ProviderRow['out_reason']>;

/**
 * SQL that holds while an upstream's circuit is open. An end that lies further ahead than any is set was noted by a clock
 * that ran ahead since: it says nothing.
 * @param provider the name by which its row goes
 * @param at an SQL expression: the instant
 */
export function isOut(provider: string, at: string): string {
  const longest = `case ${provider}.out_reason when 'rate_limited' then interval '${catalogLimits.rateLimitMaxMs} milliseconds'
                        else interval '${catalogLimits.breakMaxMs} milliseconds' end`;
  return `coalesce(${provider}.out_until > ${at} and ${provider}.out_until <= ${at} + ${longest}, false)`;
}

/** The same of a row that was read. */
export function isOutNow(
  { out_until, out_reason }: Pick<ProviderRow, 'out_until' | 'out_reason'>,
  nowMs: number,
): boolean {
  const leftMs = (out_until?.getTime() ?? -Infinity) - nowMs;
  const longestMs = out_reason === 'rate_limited' ? catalogLimits.rateLimitMaxMs : catalogLimits.breakMaxMs;
  return leftMs > 0 && leftMs <= longestMs;
}

/**
 * The upstreams whose offers can be rented, as an array of their codes. An upstream is live when its last sync is no
 * older than the freshness limit (decision 13, "Live listings"), its circuit is closed and no operator has paused it.
 * The array, unlike a join, is read once; the listings are then read once in the order of an index, however many
 * upstreams there are.
 */
export const liveProviderCodes = `array(select p.code from providers p
  where p.catalog_synced_at > (select clock_ms()) - ${catalogLimits.listingFreshMs} * interval '1 millisecond'
    and not ${isOut('p', '(select clock_ms())')} and p.paused_at is null)`;

/** The upstreams for a wish: those that can meet it, and what each of the others can't do of it. */
export interface ProvidersFor {
  readonly codes: readonly string[];
  readonly misfits: readonly ProviderMisfit[];
}

export type ProviderMisfit = (Misfit | GuardMisfit) & { readonly providerCode: string };

/**
 * Lists the upstreams for a template, own software, SSH keys, told use and a guard, as they told it; one that has not told may
 * start templates.
 */
export async function listProvidersFor(db: Database, wish: JudgedWish): Promise<ProvidersFor> {
  const rows = await db('providers')
    // Who runs no image says so by its own misfits, which name it.
    .whereRaw('(template_ids is null or ?::text = any (array_append(template_ids, ?)))', [
      wish.templateId,
      ownSoftwareId,
    ])
    .select('code', 'software', 'telemetry')
    .orderBy('code');
  const judged = rows.map(({ code, ...told }) => ({ code, misfits: misfitsOfWish(wish, told) }));
  return {
    codes: judged.filter(({ misfits }) => misfits.length === 0).map(({ code }) => code),
    misfits: judged.flatMap(({ code, misfits }) => misfits.map((one) => ({ ...one, providerCode: code }))),
  };
}

/** Lists and creates have a circuit each: an upstream whose lists work may fail every create. */
export type UpstreamUse = 'reading' | 'creating';

const circuits = {
  reading: { failures: 'failures', reason: 'failing' },
  creating: { failures: 'create_failures', reason: 'failing_creates' },
} as const satisfies Record<UpstreamUse, { failures: string; reason: OutReason }>;

/** Notes an upstream's answer: its failures are over. An upstream that refused us, or limits the rate, stays out. */
export async function noteProviderSuccess(db: Database, code: string, use: UpstreamUse): Promise<void> {
  const { failures, reason } = circuits[use];
  await db.raw(
    `update providers set ${failures} = 0, last_success_at = clock_ms(),
            out_until = case when out_reason = :reason then null else out_until end,
            out_reason = nullif(out_reason, :reason)
      where code = :code`,
    { code, reason },
  );
}

/**
 * Keeps an upstream's failure for operators. It takes the upstream's offers out of the catalog when the upstream fails
 * again and again, refuses the account, or limits the rate. A failing upstream comes back with its next answer. A call that was out
 * of turn is no failure of the upstream; operators read of a budget that is too small.
 */
export async function noteProviderFailure(
  db: Database,
  code: string,
  use: UpstreamUse,
  error: ProviderError,
): Promise<void> {
  const message = `${error.kind}: ${error.message}`.slice(0, 500);
  const told = { last_error: message, last_error_at: db.raw('clock_ms()') };
  if (error.details.overBudget === true) await db('providers').where({ code }).update(told);
  if (error.details.outOfTurn === true) return;
  const circuit = circuits[use];
  const out = error.kind === 'unknown' ? undefined : outOf(error);
  const [row] = await db('providers')
    .where({ code })
    .update({
      ...told,
      ...(error.kind === 'unknown' ? { [circuit.failures]: db.raw('?? + 1', [circuit.failures]) } : {}),
    })
    .returning(['failures', 'create_failures']);
  const inARow = row?.[circuit.failures] ?? 0;
  await noteAccount(db, code, error, message);
  if (out) await openCircuit(db, code, out);
  else if (error.kind === 'unknown' && inARow >= catalogLimits.breakAfterFailures) {
    const forMs = Math.min(
      catalogLimits.breakMaxMs,
      catalogLimits.breakBaseMs * (inARow + 1 - catalogLimits.breakAfterFailures),
    );
    await openCircuit(db, code, { reason: circuit.reason, forMs });
  }
}

async function noteAccount(db: Database, code: string, error: ProviderError, message: string): Promise<void> {
  if (isWithoutFunds(error)) await noteForOperators(db, code, 'no_funds', message);
  if (error.details.unfitAccount === true) await noteForOperators(db, code, 'unfit_account', message);
}

/** What operators are told of our account at an upstream. */
const MAILS = { no_funds: noFundsMail, unfit_account: unfitAccountMail } as const;

/**
 * Notes, once a day while it lasts, that our account at an upstream has no money left, or must not be rented with:
 * nothing can be rented there, and some upstreams end what runs.
 */
async function noteForOperators(
  db: Database,
  code: string,
  kind: keyof typeof MAILS,
  message: string,
): Promise<void> {
  const { rows } = await db.raw<{ rows: { day: string }[] }>(
    `select to_char(clock_ms() at time zone 'UTC', 'YYYY-MM-DD') as day`,
  );
  await recordNotice(db, {
    cause: { kind, provider: code, day: rows[0]?.day ?? '' },
    message: MAILS[kind]({ provider: code, message }),
  });
}

/** Takes all offers of the upstream off sale, for this long. */
async function openCircuit(
  db: Database,
  code: string,
  { reason, forMs }: { reason: OutReason; forMs: number },
): Promise<void> {
  const until = db.raw(`clock_ms() + ?::bigint * interval '1 millisecond'`, [Math.ceil(forMs)]);
  await db('providers').where({ code }).update({ out_until: until, out_reason: reason });
}

/** An account that gets 401 or 403 stays refused for a while. */
const ACCOUNT_STATUSES: readonly (number | undefined)[] = [401, 403];

/** 402 says it by itself; Shadeform says it by a code, with 409. */
function isWithoutFunds({ kind, details }: ProviderError): boolean {
  return kind === 'refused' && (details.noFunds === true || details.status === 402);
}

function outOf(error: ProviderError): { reason: OutReason; forMs: number } | undefined {
  if (error.kind === 'rate_limited')
    return {
      reason: 'rate_limited',
      forMs: Math.min(error.details.retryAfterMs ?? catalogLimits.breakBaseMs, catalogLimits.rateLimitMaxMs),
    };
  if (isWithoutFunds(error)) return { reason: 'no_funds', forMs: catalogLimits.breakMaxMs };
  const { status, unfitAccount = false } = error.details;
  if (error.kind === 'refused' && (unfitAccount || ACCOUNT_STATUSES.includes(status)))
    return { reason: 'refused', forMs: catalogLimits.breakMaxMs };
  return undefined;
}

/** Returns how long an upstream asks us to wait, in milliseconds; 0 when it does not. */
export async function rateLimitedForMs(db: Database, code: string): Promise<number> {
  const { rows } = await db.raw<{ rows: { ms: number }[] }>(
    `select greatest(0, epoch_ms(out_until) - epoch_ms(clock_ms())) as ms
       from providers where code = ? and out_reason = 'rate_limited' and ${isOut('providers', 'clock_ms()')}`,
    [code],
  );
  return rows[0]?.ms ?? 0;
}

/**
 * Accepts, by an operator's word, that machines missing from the upstream's lists are gone (watch-pods.ts), for some
 * minutes.
 * @returns false when there is no such upstream
 */
export async function acceptMissing(db: Database, code: string, minutes: number): Promise<boolean> {
  const forMs = Math.min(minutes * MINUTE, machineLimits.missingAcceptedMaxMs);
  const until = db.raw(`clock_ms() + ?::int * interval '1 millisecond'`, [forMs]);
  return (await db('providers').where({ code }).update({ missing_accepted_until: until })) === 1;
}

/** Keeps the balance of our account at an upstream, and when it was read. */
export async function recordBalance(
  db: Database,
  code: string,
  { balanceCents, burnCentsPerHour }: AccountBalance,
): Promise<void> {
  await db('providers')
    .where({ code })
    .update({
      balance_cents: balanceCents,
      burn_cents_per_hour: burnCentsPerHour,
      balance_read_at: db.raw('clock_ms()'),
    });
}

/** Lists every upstream that was ever configured. */
export async function listProviders(db: Database): Promise<ProviderRow[]> {
  return db('providers').orderBy('code');
}
