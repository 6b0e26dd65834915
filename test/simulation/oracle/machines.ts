import type { Machine } from '../world/upstream.js';
import { told, type Evidence } from './evidence.js';

/** Decision 55, "Machines nobody pays for": one that is told to end and still there after that is an error. */
const END_MAX_MS = 15 * 60_000;
/** Decision 69, "Items that fail": what is set aside is tried once an hour, and there is no end of trying. */
const ASKED_MAX_MS = 75 * 60_000;

/**
 * Decisions 22 and 55: each bought machine is told to end soon after its rental has ended, whatever other machines do; and
 * one that its upstream does not end is asked to for ever.
 */
export async function judgeMachines({ ask, machines, nowMs }: Evidence): Promise<string[]> {
  const rentals = await ask<{ tag: string; ended_ms: string | null; is_closed: boolean }>(
    `select tag, extract(epoch from ended_at) * 1000 as ended_ms, closed_at is not null as is_closed from rentals`,
  );
  const rows = new Map(rentals.map((row) => [row.tag, row]));
  return machines.flatMap((machine) => {
    const row = rows.get(machine.tag);
    const endedMs = row === undefined ? nowMs : Number(row.ended_ms ?? Infinity);
    const faults = [
      ...told(
        row?.is_closed !== false && !machine.isStubborn && !isGone(machine, nowMs),
        'is rented by nobody and runs on',
      ),
      ...judgeAsking(machine, endedMs, nowMs),
    ];
    const asked = `told: ${String(machine.toldMs !== undefined)}`;
    return faults.map((fault) => `machine ${machine.podId} (${machine.tag}) ${fault}; ${asked}`);
  });
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
