import type { AccountBalance, ProviderError } from '../../providers/provider.js';
import { catalogLimits } from '../../../domain/catalog/limits.js';
import { noFundsMail } from '../../../domain/mails/operators.js';
import type { Database } from '../database.js';
import { recordNotice } from '../operators/operator-notices.js';
import type { OutReason, ProviderRow } from '../rows/tables.js';

/**
 * The upstreams whose offers can be rented, as an array of their codes. Live is what the upstream offered in a sync
 * that is no older than the freshness limit (decision 13, "Live listings"), while its circuit is closed and no operator
 * has paused it. An array and no join: it is read once, and the listings once and in the order of an index, however
 * many upstreams there are.
 */
export const liveProviderCodes = `array(select p.code from providers p
  where p.catalog_synced_at > (select clock_ms()) - ${catalogLimits.listingFreshMs} * interval '1 millisecond'
    and (p.out_until is null or p.out_until <= (select clock_ms())) and p.paused_at is null)`;

/** Lists and creates have a circuit each: an upstream whose lists are well may fail every create. */
export type UpstreamUse = 'reading' | 'creating';

const circuits = {
  reading: { failures: 'failures', reason: 'failing' },
  creating: { failures: 'create_failures', reason: 'failing_creates' },
} as const satisfies Record<UpstreamUse, { failures: string; reason: OutReason }>;

/** An upstream answered: whatever failures there were are over. One that refused, or limits the rate, stays out. */
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
 * Keeps an upstream's failure for operators, and takes its offers out of the catalog when it fails again and again,
 * when it refuses the account, or when it limits the rate. One that fails comes back with its next answer.
 */
export async function noteProviderFailure(
  db: Database,
  code: string,
  use: UpstreamUse,
  error: ProviderError,
): Promise<void> {
  const circuit = circuits[use];
  const message = `${error.kind}: ${error.message}`.slice(0, 500);
  const out = error.kind === 'unknown' ? undefined : outOf(error);
  const [row] = await db('providers')
    .where({ code })
    .update({
      last_error: message,
      last_error_at: db.raw('clock_ms()'),
      ...(error.kind === 'unknown' ? { [circuit.failures]: db.raw('?? + 1', [circuit.failures]) } : {}),
    })
    .returning(['failures', 'create_failures']);
  const inARow = row?.[circuit.failures] ?? 0;
  if (isWithoutFunds(error)) await noteNoFunds(db, code, message);
  if (out) await openCircuit(db, code, out);
  else if (error.kind === 'unknown' && inARow >= catalogLimits.breakAfterFailures) {
    const forMs = Math.min(
      catalogLimits.breakMaxMs,
      catalogLimits.breakBaseMs * (inARow + 1 - catalogLimits.breakAfterFailures),
    );
    await openCircuit(db, code, { reason: circuit.reason, forMs });
  }
}

/** Told once a day for as long as it lasts: nothing can be rented there, and some upstreams end what runs. */
async function noteNoFunds(db: Database, code: string, message: string): Promise<void> {
  const { rows } = await db.raw<{ rows: { day: string }[] }>(
    `select to_char(clock_ms() at time zone 'UTC', 'YYYY-MM-DD') as day`,
  );
  await recordNotice(db, {
    cause: { kind: 'no_funds', provider: code, day: rows[0]?.day ?? '' },
    message: noFundsMail({ provider: code, message }),
  });
}

/** From now on nothing of the upstream is for sale, for so long. */
async function openCircuit(
  db: Database,
  code: string,
  { reason, forMs }: { reason: OutReason; forMs: number },
): Promise<void> {
  const until = db.raw(`clock_ms() + ?::bigint * interval '1 millisecond'`, [Math.ceil(forMs)]);
  await db('providers').where({ code }).update({ out_until: until, out_reason: reason });
}

/** An account that is not let in (401) or is shut out (403) stays so for a while. */
const ACCOUNT_STATUSES: readonly (number | undefined)[] = [401, 403];

/** 402 says so by itself; Shadeform says it by a code, with 409. */
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
  if (error.kind === 'refused' && ACCOUNT_STATUSES.includes(error.details.status))
    return { reason: 'refused', forMs: catalogLimits.breakMaxMs };
  return undefined;
}

/** How long an upstream asks to be left alone, in milliseconds; 0 when it does not. */
export async function rateLimitedForMs(db: Database, code: string): Promise<number> {
  const { rows } = await db.raw<{ rows: { ms: number }[] }>(
    `select greatest(0, epoch_ms(out_until) - epoch_ms(clock_ms())) as ms
       from providers where code = ? and out_reason = 'rate_limited'`,
    [code],
  );
  return rows[0]?.ms ?? 0;
}

/**
 * An operator's word that what the upstream's lists miss is gone indeed (watch-pods.ts), for some minutes.
 * @returns false when there is no such upstream
 */
export async function acceptMissing(db: Database, code: string, minutes: number): Promise<boolean> {
  const until = db.raw(`clock_ms() + ?::int * interval '1 minute'`, [minutes]);
  return (await db('providers').where({ code }).update({ missing_accepted_until: until })) === 1;
}

/** Keeps what our account at an upstream holds, and when that was read. */
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

/** Every upstream that was ever configured. */
export async function listProviders(db: Database): Promise<ProviderRow[]> {
  return db('providers').orderBy('code');
}
