import type { Told } from '../users/told.js';
import type { Machine } from '../world/upstream.js';
import { HOUR_MS, told, type Evidence } from './evidence.js';

interface RentalRow {
  readonly id: string;
  readonly no: string;
  readonly status: string;
  readonly tag: string;
  /** The API key that rented it; null: its user. */
  readonly key: string | null;
  readonly price: string;
  readonly max_spend: string | null;
  readonly running_ms: string | null;
  readonly ended_ms: string | null;
  readonly auto_stop_ms: string | null;
  readonly auto_stop_after_ms: string | null;
  readonly requested_ms: string | null;
  readonly stop_reason: string | null;
  readonly settled: boolean;
  /** Its user gave it other limits while it ran (decision 105). */
  readonly is_changed: boolean;
}

/** How much later than a daemon's first answer billing may begin at the earliest instant that the service could see. */
const NOTICE_MAX_MS = 15 * 60_000;

/** Decision 27, "Refund of failed machines". */
const REFUND_WINDOW_MS = 60_000;
/** A machine that dies unseen right before its user's stop counts as alive (decision 77); worse while faults last. */
const UNSEEN_MAX_MS = 5 * 60_000;

/** Decisions 15, 18 and 27: the instants of each rental, by what truly became of its machine. */
export async function judgeRentals(evidence: Evidence): Promise<string[]> {
  const { ask, told: said } = evidence;
  const rows = await ask<RentalRow>(
    `select r.id, r.no, r.status, r.tag, r.api_key_id as key, r.price_per_hour_cents as price, r.max_spend_cents as max_spend,
            extract(epoch from r.running_at) * 1000 as running_ms, extract(epoch from r.ended_at) * 1000 as ended_ms,
            extract(epoch from r.auto_stop_at) * 1000 as auto_stop_ms, r.auto_stop_after_ms,
            extract(epoch from s.requested_at) * 1000 as requested_ms, r.stop_reason,
            r.settled_at is not null as settled,
            exists (select 1 from rental_changes c where c.rental_no = r.no and c.limits_at is not null) as is_changed
       from rentals r left join stop_requests s on s.rental_no = r.no order by r.no`,
  );
  const violations: string[] = [];
  for (const { rentalId, pricePerHourCents } of said.rentals.values()) {
    const row = rows.find(({ id }) => id === rentalId);
    if (row === undefined) violations.push(`${rentalId} was answered with 200, and is not there`);
    else if (Number(row.price) > pricePerHourCents)
      violations.push(`${rentalId} became dearer after its answer`);
  }
  return [
    ...violations,
    ...rows.flatMap((row) => judgeRental(row, evidence).map((fault) => `${row.id}: ${fault}`)),
  ];
}

function judgeRental(row: RentalRow, evidence: Evidence): string[] {
  if (!row.settled) return [];
  const machine = evidence.machines.find(({ tag }) => tag === row.tag);
  if (row.running_ms === null || row.ended_ms === null) {
    return judgeNeverRan(Number(row.ended_ms ?? evidence.nowMs), machine);
  }
  if (machine === undefined) return ['it ran on no machine that was ever bought'];
  const life = { runningMs: Number(row.running_ms), endedMs: Number(row.ended_ms) };
  if (row.status === 'failed') {
    return told(
      machine.lostMs > life.runningMs + REFUND_WINDOW_MS + NOTICE_MAX_MS,
      'it was given back as lost, and its machine was alive',
    );
  }
  return [
    ...judgeBeginning(life, machine),
    ...judgeEnd(row, life, machine, evidence.told),
    ...judgeWish(row, evidence.told),
    ...judgeLoss(row, life, machine),
  ];
}

/** The time for which a rental is billed, in milliseconds since 1970. */
interface Life {
  readonly runningMs: number;
  readonly endedMs: number;
}

/** Decisions 18 and 155: billing runs from the first answer of the SSH daemon, of own software’s port, or by time. */
function judgeBeginning({ runningMs }: Life, { readyMs }: Machine): string[] {
  return [
    ...told(runningMs < readyMs, 'its billing began before its machine was ready'),
    ...told(runningMs > readyMs + NOTICE_MAX_MS, 'its billing began long after its machine was ready'),
  ];
}

/** Decision 18: a machine that answers begins the billing; nobody has it for nothing. */
function judgeNeverRan(endedMs: number, machine: Machine | undefined): string[] {
  if (machine === undefined) return [];
  const goneMs = Math.min(endedMs, machine.lostMs, machine.goneMs ?? Infinity);
  return told(goneMs > machine.readyMs + NOTICE_MAX_MS, 'it never ran though its machine was ready');
}

/** What a key's cap holds for a rental with a limit: no more than its time can cost (decision 109). */
function heldFor({ key, price }: RentalRow, afterMs: number | null, limit = Infinity): number {
  if (afterMs === null || key === null) return limit;
  return Math.min(limit, Math.ceil((Number(price) * afterMs) / HOUR_MS));
}

/** What the user asked for holds, whatever the row says. */
function judgeWish(row: RentalRow, said: Told): string[] {
  const wish = said.rentals.get(row.id);
  if (wish === undefined) return [];
  const { autoStopAfterHours: hours, maxSpendCents: limit } = row.is_changed
    ? { autoStopAfterHours: undefined, maxSpendCents: undefined }
    : wish;
  const afterMs = hours === undefined ? null : Math.round(hours * HOUR_MS);
  const isOther = (kept: string | null, wanted: number | null): boolean =>
    wanted !== null && (kept === null || Math.abs(Number(kept) - wanted) > 1);
  const isUser = row.stop_reason === 'user';
  const asked = [
    // Whoever closes an account ends all that it has.
    ...said.closings.filter(({ email }) => email === wish.email).map(({ sentMs }) => sentMs),
    ...said.stops.filter(({ rentalId }) => rentalId === row.id).map(({ sentMs }) => sentMs),
    // Who revokes a key may stop what it rented.
    (row.key === null ? undefined : said.keys.get(row.key)?.revokingMs) ?? Infinity,
  ];
  return [
    ...told(isOther(row.auto_stop_after_ms, afterMs), 'its auto-stop is not the one that was asked for'),
    ...told(
      isOther(row.max_spend, limit ?? null) && isOther(row.max_spend, heldFor(row, afterMs, limit)),
      'its spending limit is not the one that was asked for',
    ),
    ...told(
      isUser && Number(row.requested_ms) < Math.min(...asked),
      'it was stopped before its user asked for it',
    ),
  ];
}

/** Decision 77: nobody pays for long for a machine that is dead, and a loss takes no more than was not seen. */
function judgeLoss(row: RentalRow, { runningMs, endedMs }: Life, machine: Machine): string[] {
  const deadMs = endedMs - Math.max(runningMs, machine.lostMs);
  const isLost = row.stop_reason === 'pod_lost';
  return [
    ...told(deadMs > UNSEEN_MAX_MS, `it was billed for ${deadMs} ms after its machine was lost`),
    ...told(
      isLost && endedMs < Math.max(runningMs, machine.lostMs - NOTICE_MAX_MS),
      'its loss took time that its machine was alive',
    ),
  ];
}

/** Decision 25: billing ends at the least of the stop, the limits, the end of the money, and the loss. */
function judgeEnd(row: RentalRow, { runningMs, endedMs }: Life, machine: Machine, said: Told): string[] {
  const requested = Number(row.requested_ms ?? Infinity);
  const isChanged = said.changes.some(({ rentalId }) => rentalId === row.id);
  const hours = runningMs + Number(row.auto_stop_after_ms ?? Infinity);
  const autoStop = isChanged ? Number(row.auto_stop_ms ?? hours) : hours;
  const instants: Readonly<Record<string, number>> = { user: requested, auto_stop: autoStop };
  const instant = Math.max(runningMs, instants[String(row.stop_reason)] ?? endedMs);
  const answeredMs = said.stops
    .filter(({ rentalId, status }) => rentalId === row.id && status === 200)
    .map((stop) => stop.answeredMs);
  const isLost = row.stop_reason === 'pod_lost';
  // A stop of what is settled already is not kept (decision 15, "Stopping a rental").
  const notedMs = Math.min(requested, endedMs);
  return [
    ...told(endedMs > Math.max(requested, runningMs), 'it was billed beyond its stop request'),
    ...told(endedMs > autoStop, 'it was billed beyond its auto-stop'),
    ...told(Number(row.auto_stop_ms ?? autoStop) !== autoStop, 'its auto-stop is not its hours after it ran'),
    ...told(isLost && endedMs > Math.max(runningMs, machine.lostMs), 'it was billed beyond its loss'),
    ...told(notedMs > Math.min(...answeredMs, Infinity), 'its stop was noted after it was answered'),
    ...told(
      endedMs !== instant,
      `${String(row.stop_reason)} ended it ${endedMs - instant} ms after that instant`,
    ),
  ];
}
