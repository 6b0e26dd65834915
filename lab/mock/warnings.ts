import { MINUTE } from '../../domain/durations.js';
import type { MeteredRental } from '../../domain/metering/metered-end.js';
import { isLow, runwaySeconds } from '../../domain/metering/runway.js';
import { isIdle, judgeIdle } from '../../domain/rentals/idle-guard.js';
import { isEndNear } from '../../domain/rentals/near-ends.js';
import type { Account, MockRental } from './account.js';
import { readBurn } from './burn.js';
import { minutesOf, mockTelemetry } from './telemetry.js';
import type { World } from './world.js';

/** Tells once of each limit by which a machine ends soon. */
export function warnOfNearEnds(world: World, { user }: Account, { row, warned }: MockRental): void {
  if (row.status !== 'running' || row.running_at === null) return;
  for (const [warning, end] of [
    ['auto_stop_near', row.auto_stop_at],
    ['spend_limit_near', row.spend_limit_at],
  ] as const) {
    if (!isEndNear(end, row.running_at, world.now())) continue;
    const at = end.toISOString();
    if (warned.has(`${warning} ${at}`)) continue;
    warned.add(`${warning} ${at}`);
    world.events.tell(user.id, 'rental.warned', row.id, { warning, at });
  }
}

/** Tells that the balance is low, once for each time that it becomes so. */
export function tellLow(world: World, account: Account): void {
  const { user, wallet } = account;
  const { burnPerHourCents, holdsCents } = readBurn(account);
  if (burnPerHourCents === 0) return;
  const [wasLow, balanceCents] = [account.isLow, wallet.totalCents];
  account.isLow = isLow(balanceCents, burnPerHourCents);
  if (wasLow || !account.isLow) return;
  world.events.tell(user.id, 'wallet.low', user.id, {
    ...{ balanceCents, burnPerHourCents },
    runwaySeconds: runwaySeconds(wallet.availableCents + holdsCents, burnPerHourCents),
  });
}

/**
 * Lets the guard of a machine judge each minute that is over since it did so last, and warns of a stop that is near.
 * @returns the wish that the machine ends now; null: it has none
 */
export function judgeMinutes(world: World, { user }: Account, rental: MockRental): MeteredRental['stop'] {
  const { row } = rental;
  for (const { atMs, use } of minutesOf(rental, world.now(), rental.judgedMs)) {
    const endMs = (rental.judgedMs = atMs + MINUTE);
    const { idle_guard: guard } = row;
    if (guard === null) continue;
    const { act, idleSinceMs, stopsAtMs } = judgeIdle(
      { minutes: guard.minutes, keepAliveUntilMs: msOf(guard.keep_alive_until) },
      { idleSinceMs: msOf(guard.idle_since), stopsAtMs: msOf(guard.stops_at), seenMs: atMs },
      { firstMs: atMs, lastMs: endMs, isIdle: isIdle(use, mockTelemetry, guard) },
      endMs,
    );
    row.idle_guard = { ...guard, idle_since: isoOf(idleSinceMs), stops_at: isoOf(stopsAtMs) };
    if (act === 'warn') {
      const told = { warning: 'idle_stop_near', at: isoOf(stopsAtMs) } as const;
      world.events.tell(user.id, 'rental.warned', row.id, told);
    }
    if (act === 'stop') return { requestedAt: new Date(endMs), requestedBy: 'idle' };
  }
  return null;
}

function msOf(iso: string | null): number | null {
  return iso === null ? null : Date.parse(iso);
}

function isoOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
