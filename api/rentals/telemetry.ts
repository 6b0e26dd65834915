import * as declared from './describe-telemetry.js';
import { readClock } from '../../adapters/postgres/clock.js';
import { listTelemetryHours } from '../../adapters/postgres/machines/telemetry.js';
import type { RentalRow } from '../../adapters/postgres/rows/tables.js';
import { DAY } from '../../domain/durations.js';
import { pointsOf, telemetryLimits, type TelemetryHour } from '../../domain/machines/telemetry.js';
import type { ApiContext, ApiDeps, ApiRouter } from '../context.js';
import { serve, type Handler } from '../http/serve.js';
import { fieldRefusal, readQuery } from '../http/validation.js';
import type { Telemetry } from './describe-telemetry.js';
import { getRental } from './get-rental.js';

/** The route of a machine's use: GET /v1/rentals/:id/telemetry (decision 166, "Use of machines"). */
export function telemetryRoutes(router: ApiRouter, deps: ApiDeps): void {
  serve(router, deps, declared.showTelemetry, showTelemetry(deps));
}

function showTelemetry(deps: ApiDeps): Handler<typeof declared.showTelemetry> {
  return async (ctx) => {
    const asked = readTelemetryQuery(ctx);
    const rental = await getRental(ctx, deps);
    const window = windowOf(rental, asked, await readClock(deps.db));
    return presentTelemetry(rental, window, await listTelemetryHours(deps.db, rental.no, window));
  };
}

interface AskedPoints {
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
  readonly points: number;
}

/** @throws Refusal validation_failed naming the field */
export function readTelemetryQuery(ctx: ApiContext): AskedPoints {
  const asked = readQuery(ctx, declared.telemetryQuery);
  if (asked.from && asked.to && asked.from >= asked.to) {
    throw fieldRefusal('from', 'from must be earlier than to');
  }
  return asked;
}

/** What is shown: nothing lies before billing began, after it ended, or beyond what is kept. */
export function windowOf(
  { running_at: runningAt, ended_at: endedAt }: Pick<RentalRow, 'running_at' | 'ended_at'>,
  { from, to, points }: AskedPoints,
  now: Date,
) {
  const last = Math.min(...[now, endedAt ?? now, to ?? now].map(Number));
  const keptMs = from === undefined ? DAY : telemetryLimits.keptDays * DAY;
  const first = Math.max(Number(from ?? 0), Number(runningAt ?? now), last - keptMs);
  return { from: new Date(Math.min(first, last)), to: new Date(last), points };
}

/** The use of a rental's machine, by points. */
export function presentTelemetry(
  { id: rentalId }: Pick<RentalRow, 'id'>,
  { from, to, points }: ReturnType<typeof windowOf>,
  hours: readonly TelemetryHour[],
): Telemetry {
  const found = pointsOf(hours, { from, to, points });
  return {
    rentalId,
    source: hours[0]?.source ?? null,
    ...{ from: from.toISOString(), to: to.toISOString(), stepSeconds: found.stepSeconds },
    points: found.points.map(({ at, ...use }) => ({ at: at.toISOString(), ...use })),
  };
}
