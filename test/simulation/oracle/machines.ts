import type { Machine } from '../world/upstream.js';
import { told, type Evidence } from './evidence.js';

/** Decision 55, "Machines nobody pays for": one that is told to end and still there after that is an error. */
const END_MAX_MS = 15 * 60_000;
/** Decision 69, "Items that fail": what is set aside is tried once an hour, and there is no end of trying. */
const ASKED_MAX_MS = 75 * 60_000;

interface RentalRow {
  readonly tag: string;
  readonly ended_ms: string | null;
  readonly closed_ms: string | null;
}

/**
 * Decisions 22 and 55: each bought machine is told to end soon after its rental has ended, whatever other machines do; and
 * one that its upstream does not end is asked to for ever.
 */
export async function judgeMachines({ ask, machines, nowMs }: Evidence): Promise<string[]> {
  const rentals = await ask<RentalRow>(
    `select tag, extract(epoch from ended_at) * 1000 as ended_ms, extract(epoch from closed_at) * 1000 as closed_ms
       from rentals`,
  );
  const rows = new Map(rentals.map((row) => [row.tag, row]));
  return machines.flatMap((machine) => {
    const row = rows.get(machine.tag);
    const endedMs = row === undefined ? nowMs : Number(row.ended_ms ?? Infinity);
    const faults = [
      ...told(
        row?.closed_ms !== null && !machine.isStubborn && !isGone(machine, nowMs),
        'is rented by nobody and runs on',
      ),
      ...told(isClosedEarly(machine, row), 'was alive when its rental was closed'),
      ...judgeAsking(machine, endedMs, nowMs),
    ];
    const asked = `told: ${String(machine.toldMs !== undefined)}`;
    return faults.map((fault) => `machine ${machine.podId} (${machine.tag}) ${fault}; ${asked}`);
  });
}

/** Decision 22: a rental is closed when lists show its machine no more; one that was never listed is not waited for. */
function isClosedEarly(
  { goneMs = Infinity, lostMs, listedMs, boughtMs }: Machine,
  row: RentalRow | undefined,
): boolean {
  const closedMs = Number(row?.closed_ms ?? Infinity);
  return listedMs === boughtMs && Math.min(goneMs, lostMs) > closedMs;
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
