import type { Told, ToldChange, ToldValue } from '../users/told.js';
import { highestAt } from '../users/told.js';
import { HOUR_MS, told, type Evidence } from './evidence.js';

interface ChangedRow {
  readonly id: string;
  readonly price: string;
  readonly running_ms: string | null;
  readonly ended_ms: string | null;
  readonly max_spend: string | null;
  readonly auto_stop_ms: string | null;
  readonly paid: string;
  /** What was ever charged, before refunds. */
  readonly charged: string;
  readonly settled: boolean;
}

/** Decisions 19, 104 and 105: no price above the accepted one, and no bill beyond the limits that held. */
export async function judgeChanges({ ask, told: said }: Evidence): Promise<string[]> {
  const rows = await ask<ChangedRow>(
    `select r.id, r.price_per_hour_cents as price, extract(epoch from r.running_at) * 1000 as running_ms,
            extract(epoch from r.ended_at) * 1000 as ended_ms, r.max_spend_cents as max_spend,
            extract(epoch from r.auto_stop_at) * 1000 as auto_stop_ms, r.settled_at is not null as settled,
            coalesce((select -sum(amount_cents) from seen_entries e where e.rental_no = r.no), 0)
              + r.overage_cents + r.written_off_cents as paid,
            r.charged_cents + r.overage_cents + r.written_off_cents as charged
       from rentals r order by r.no`,
  );
  return rows.flatMap((row) => [
    ...judgePrice(row, said),
    ...judgeLimits(row, said).map((fault) => `${row.id}: ${fault}`),
  ]);
}

function judgePrice({ id, price }: ChangedRow, said: Told): string[] {
  const accepted = said.rentals.get(id)?.acceptedCents ?? Infinity;
  return told(Number(price) > accepted, `${id} costs ${price} an hour, and ${accepted} was accepted`);
}

function judgeLimits(row: ChangedRow, said: Told): string[] {
  const rental = said.rentals.get(row.id);
  if (rental === undefined || row.running_ms === null || row.ended_ms === null || !row.settled) return [];
  const runningMs = Number(row.running_ms);
  const endedMs = Number(row.ended_ms);
  const changes = said.changes.filter(({ rentalId }) => rentalId === row.id);
  const first = { sentMs: -Infinity, answeredMs: rental.answeredMs, isSure: true };
  // The limit of a key that has a cap is chosen by the service when none is asked for.
  const firstSpend = rental.maxSpendCents ?? Infinity;
  const spend = [{ ...first, value: firstSpend }, ...changes.flatMap(spendOf)];
  const hours = rental.autoStopAfterHours ?? Infinity;
  const stops = [
    { ...first, value: runningMs + hours * HOUR_MS },
    ...changes.flatMap((change) => autoStopOf(change, runningMs)),
  ];
  const limit = highestAt(spend, Infinity);
  const autoStop = Math.max(runningMs, highestAt(stops, Infinity));
  return [
    ...changes.flatMap((change) => judgeAnswer(change, row)),
    ...told(Number(row.paid) > limit, `it costs ${row.paid} cents, and its limit was ${limit}`),
    ...told(
      endedMs > Math.round(autoStop),
      `it was billed ${endedMs - autoStop} ms beyond the auto-stop that held`,
    ),
  ];
}

/** Decision 105: a limit is what was asked for, unless that had passed by then: then the rental ends by it at once. */
function judgeAnswer({ asked, answer, answeredMs }: ToldChange, row: ChangedRow): string[] {
  if (answer === undefined) return [];
  const { maxSpendCents: spend, autoStopAt } = asked;
  const isRaised = typeof spend === 'number' && answer.maxSpendCents > Math.max(spend, Number(row.charged));
  const latest = typeof autoStopAt === 'string' ? Math.max(Date.parse(autoStopAt), answeredMs) : Infinity;
  return [
    ...told(isRaised, `its limit became ${answer.maxSpendCents}, and ${String(spend)} was asked for`),
    ...told(
      answer.autoStopMs > latest,
      `its auto-stop is ${answer.autoStopMs - latest} ms later than asked for`,
    ),
  ];
}

/** The limit that a change may have set. What was accrued is never given back, which an unknown one does not tell. */
function spendOf({ asked, answer, sentMs, answeredMs }: ToldChange): ToldValue[] {
  const { maxSpendCents } = asked;
  if (answer !== undefined) return [{ sentMs, answeredMs, value: answer.maxSpendCents, isSure: true }];
  if (maxSpendCents === undefined) return [];
  const value = maxSpendCents === null ? Infinity : Number(maxSpendCents);
  return [{ sentMs, answeredMs, value, isSure: false }];
}

/** The auto-stop that a change may have set: never before it, and shown by its answer only where billing has begun. */
function autoStopOf({ asked, answer, sentMs, answeredMs }: ToldChange, runningMs: number): ToldValue[] {
  const { autoStopAt, autoStopAfterHours } = asked;
  const wanted =
    typeof autoStopAt === 'string'
      ? Date.parse(autoStopAt)
      : typeof autoStopAfterHours === 'number'
        ? runningMs + autoStopAfterHours * HOUR_MS
        : Infinity;
  const isSure = answer !== undefined;
  if (answer !== undefined && answer.autoStopMs !== Infinity)
    return [{ sentMs, answeredMs, value: answer.autoStopMs, isSure }];
  if (autoStopAt === undefined && autoStopAfterHours === undefined) return [];
  return [{ sentMs, answeredMs, value: Math.max(wanted, answeredMs), isSure }];
}
