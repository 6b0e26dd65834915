import type { Machine } from '../world/upstream.js';
import { rentalOf, told, type Evidence } from './evidence.js';

/** Decision 55, "Machines nobody pays for": one that is told to end and still there after that is an error. */
const END_MAX_MS = 15 * 60_000;
/** Decision 69, "Items that fail": what is set aside is tried once an hour, and there is no end of trying. */
const ASKED_MAX_MS = 75 * 60_000;

interface RentalRow {
  readonly id: string;
  readonly tag: string;
  /** Null until it has taken its machine over. */
  readonly pod_id: string | null;
  readonly started_ms: string;
  readonly requested_ms: string | null;
  readonly ended_ms: string | null;
  readonly closed_ms: string | null;
}

/**
 * Decisions 22 and 55: each bought machine is told to end soon after its rental has ended, whatever other machines do; and
 * one that its upstream does not end is asked to for ever.
 */
export async function judgeMachines({ ask, machines, nowMs, stoodStill }: Evidence): Promise<string[]> {
  const rentals = await ask<RentalRow>(
    `select r.id, tag, pod_id, extract(epoch from started_at) * 1000 as started_ms,
            extract(epoch from coalesce(ended_at, settled_at)) * 1000 as ended_ms,
            extract(epoch from closed_at) * 1000 as closed_ms, extract(epoch from s.requested_at) * 1000 as requested_ms
       from rentals r left join stop_requests s on s.rental_no = r.no`,
  );
  const rows = new Map(rentals.map((row) => [row.tag, row]));
  const extra = rentals.flatMap((row) => judgeTwins(row, machines));
  const faults = machines.flatMap((machine) => {
    const row = rows.get(machine.tag);
    const endedMs = row === undefined ? nowMs : noticedMs(Number(row.ended_ms ?? Infinity), stoodStill);
    const own = [
      ...told(
        row?.closed_ms !== null && !machine.isStubborn && !isGone(machine, nowMs),
        'is rented by nobody and runs on',
      ),
      ...told(isClosedEarly(machine, row), 'was alive when its rental was closed'),
      ...told(isToldEarly(machine, row), 'was told to end while it was rented'),
      ...judgeAsking(machine, endedMs, nowMs),
    ];
    const asked = `told: ${String(machine.toldMs !== undefined)}`;
    return own.map((fault) => `machine ${machine.podId} (${machine.tag}) ${fault}; ${asked}`);
  });
  return [...extra, ...faults];
}

/** The end of a rental, or when the service was back that stood still at that time. */
function noticedMs(endedMs: number, stoodStill: Evidence['stoodStill']): number {
  if (stoodStill === undefined || endedMs > stoodStill.toMs) return endedMs;
  return endedMs > stoodStill.fromMs - END_MAX_MS ? stoodStill.toMs : endedMs;
}

/** Decision 22: a rental is closed when lists show its machine no more; one that was never listed is not waited for. */
function isClosedEarly(
  { goneMs = Infinity, lostMs, listedMs, boughtMs }: Machine,
  row: RentalRow | undefined,
): boolean {
  const closedMs = Number(row?.closed_ms ?? Infinity);
  return listedMs === boughtMs && Math.min(goneMs, lostMs) > closedMs;
}

/** A machine that its rental has not taken over may be given back: it costs more than was agreed. */
function isToldEarly({ toldMs = Infinity }: Machine, row: RentalRow | undefined): boolean {
  return (
    row !== undefined &&
    row.pod_id !== null &&
    toldMs < Math.min(Number(row.requested_ms ?? Infinity), Number(row.ended_ms ?? Infinity))
  );
}

/** Decision 21, "Lost upstream answers": nothing more is bought for a rental that has its machine. */
function judgeTwins({ id, tag, started_ms }: RentalRow, machines: readonly Machine[]): string[] {
  const own = machines.find((machine) => machine.tag === tag);
  if (own === undefined) return [];
  const hasItMs = Math.max(Number(started_ms), own.boughtMs);
  return machines
    .filter((machine) => rentalOf(machine) === id && machine.boughtMs > hasItMs)
    .map(({ podId }) => `machine ${podId} was bought for ${id}, which had one`);
}

function judgeAsking(machine: Machine, endedMs: number, nowMs: number): string[] {
  const { toldMs = Infinity, goneMs = Infinity, askedMs = 0, isStubborn } = machine;
  const sinceMs = nowMs - ASKED_MAX_MS;
  const isLeft = isStubborn && endedMs < sinceMs && askedMs < sinceMs && !isGone(machine, nowMs);
  return [
    ...told(
      Math.min(toldMs, goneMs, nowMs) > endedMs + END_MAX_MS,
      'was told to end long after its rental had ended',
    ),
    ...told(isLeft, 'does not end, and nobody asks for it any more'),
  ];
}

function isGone({ goneMs }: Machine, nowMs: number): boolean {
  return goneMs !== undefined && goneMs <= nowMs;
}
