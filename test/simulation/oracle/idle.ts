import { highestAt, type Told, type ToldValue } from '../users/told.js';
import type { Machine } from '../world/upstream.js';
import { Erased } from './erased.js';
import { told, type Evidence } from './evidence.js';

const MINUTE_MS = 60_000;
/** N39: its renter is warned so long before. */
const WARNED_MS = 10 * MINUTE_MS;
/** The list that showed it idle was asked for a little earlier than it was answered. */
const ASKED_EARLIER_MS = 30_000;
/** The last minutes before the end need not be told yet: a minute, and what may be two minutes old. */
const UNTOLD_MS = 4 * MINUTE_MS;
/** How much longer than its minutes a machine may be idle while nothing is disturbed: it is told by the minute, and warned. */
const LATE_MS = WARNED_MS + 10 * MINUTE_MS;

interface Row {
  readonly id: string;
  readonly user_id: string;
  readonly tag: string;
  readonly provider: string;
  readonly stop_reason: string | null;
  readonly requested_by: string | null;
  readonly requested_ms: string | null;
  readonly running_ms: string | null;
  readonly ended_ms: string | null;
  readonly warned_ms: string | null;
}

/** N39: a machine stops for being idle when it truly was, for its minutes, warned, and not kept alive; and then it does. */
export async function judgeIdleness(evidence: Evidence): Promise<string[]> {
  const rows = await evidence.ask<Row>(
    `select r.id, r.user_id, r.tag, r.provider_code as provider, r.stop_reason, s.requested_by,
            extract(epoch from s.requested_at) * 1000 as requested_ms,
            extract(epoch from r.running_at) * 1000 as running_ms,
            extract(epoch from r.ended_at) * 1000 as ended_ms,
            (select extract(epoch from max(e.at)) * 1000 from events e
              where e.entity_id = r.id and e.type = 'rental.warned' and e.data ->> 'warning' = 'idle_stop_near') as warned_ms
       from rentals r left join stop_requests s on s.rental_no = r.no order by r.no`,
  );
  // Nothing tells any more what was said to whom is erased.
  const erased = await Erased.read(evidence);
  return erased.without(rows).flatMap((row) => {
    const machine = evidence.machines.find(({ tag }) => tag === row.tag);
    if (machine === undefined) return [];
    const faults =
      row.requested_by === 'idle'
        ? judgeStop(row, machine, evidence.told)
        : judgeGoingOn(row, machine, evidence);
    return [
      ...told(row.stop_reason === 'idle' && row.requested_by !== 'idle', 'nobody stopped it for being idle'),
      ...faults,
    ].map((fault) => `${row.id}: ${fault}`);
  });
}

function judgeStop(row: Row, machine: Machine, said: Told): string[] {
  const requestedMs = Number(row.requested_ms);
  const values = said.guards.get(row.id);
  // Nobody was told of a rental whose answer was lost.
  const minutes = values === undefined ? 0 : -highestAt(values, requestedMs);
  const window = {
    fromMs: requestedMs - minutes * MINUTE_MS + ASKED_EARLIER_MS,
    toMs: requestedMs - UNTOLD_MS,
  };
  const keptMs = said.keepAlives
    .filter(({ rentalId, answeredMs }) => rentalId === row.id && answeredMs < requestedMs)
    .map(({ untilMs }) => untilMs);
  return [
    ...told(minutes === Infinity, 'it stopped for being idle, and nobody had asked for that'),
    ...told(
      minutes !== Infinity && window.fromMs < Number(row.running_ms),
      `it was stopped for being idle before it had run for ${minutes} minutes`,
    ),
    ...told(usedIn(machine, window), `it was stopped for being idle, and was used within ${minutes} minutes`),
    ...told(Math.max(0, ...keptMs) > requestedMs, 'it was stopped while it was kept alive'),
    ...told(
      row.warned_ms === null || Number(row.warned_ms) > requestedMs - WARNED_MS + MINUTE_MS,
      'its renter was not warned in time that it stops for being idle',
    ),
  ];
}

interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Tells whether a machine was in use in a span of time, or nobody could tell. */
function usedIn({ use }: Machine, { fromMs, toMs }: Span): boolean {
  return use.some(({ fromMs: beginMs, kind }, index) => {
    const endMs = endOf(use, index);
    return kind !== 'idle' && Math.min(endMs, toMs) > Math.max(beginMs, fromMs);
  });
}

/** While nothing is disturbed any more, an idle machine with a guard does not go on. */
function judgeGoingOn(row: Row, machine: Machine, { told: said, calmSinceMs, nowMs }: Evidence): string[] {
  const values = said.guards.get(row.id);
  const minutes = values === undefined ? undefined : surelyOf(values);
  const isGuarded = minutes !== undefined && minutes !== Infinity && row.running_ms !== null;
  if (!isGuarded || machine.use.length === 0) return [];
  const keptMs = said.keepAlives.filter(({ rentalId }) => rentalId === row.id).map(({ untilMs }) => untilMs);
  const fromMs = Math.max(calmSinceMs, Number(row.running_ms), ...keptMs);
  const toMs = Math.min(
    ...[row.requested_ms, row.ended_ms].map((at) => Number(at ?? Infinity)),
    machine.lostMs,
    nowMs,
  );
  const idle = machine.use.map(({ fromMs: beginMs, kind }, index) => {
    const endMs = endOf(machine.use, index);
    return kind === 'idle' ? Math.min(endMs, toMs) - Math.max(beginMs, fromMs) : 0;
  });
  const longestMs = Math.max(...idle);
  return told(
    longestMs > minutes * MINUTE_MS + LATE_MS,
    `it was idle for ${Math.round(longestMs / MINUTE_MS)} minutes, and goes on in spite of its guard of ${minutes}`,
  );
}

function endOf(stretches: Machine['use'], index: number): number {
  return stretches[index + 1]?.fromMs ?? Infinity;
}

/** The minutes of a guard of which its renter is sure; undefined where an answer was lost. */
function surelyOf(values: readonly ToldValue[]): number | undefined {
  const last = values.at(-1);
  return last === undefined || values.some(({ isSure }) => !isSure) ? undefined : -last.value;
}
