import { HOUR, MINUTE } from '../../../domain/durations.js';
import {
  bytesPerMinute,
  packMinute,
  type MinuteOfUse,
  type TelemetryHour,
  type TelemetryTold,
} from '../../../domain/machines/telemetry.js';
import { groupedBy } from '../../../domain/grouped.js';
import type { Database } from '../database.js';

/**
 * Keeps minutes of the use of an upstream's machines for the rentals that run there: one statement for all that are of
 * one minute. A minute that was kept is kept anew.
 */
export async function recordUse(
  db: Database,
  providerCode: string,
  minutes: readonly MinuteOfUse[],
): Promise<void> {
  for (const [atMs, told] of groupedBy(minutes, ({ atMs }) => atMs)) {
    const hourMs = Math.floor(atMs / HOUR) * HOUR;
    const packed = told.map((minute) => ({ id: minute.podId, use: hexOf(packMinute(minute)) }));
    await db.raw(
      `insert into telemetry_hours as t (rental_no, hour, source, minutes)
       select r.no, :hour, 'upstream',
              overlay(decode(repeat('ff', 300), 'hex') placing x.use from :place::int)
         from jsonb_to_recordset(:packed::jsonb) as x (id text, use bytea)
         join rentals r on r.provider_code = :providerCode and r.pod_id = x.id
                       and r.closed_at is null and r.status = 'running'
       on conflict (rental_no, hour) do update set
         minutes = overlay(t.minutes placing substring(excluded.minutes from :place::int for :bytes::int)
                           from :place::int)`,
      {
        providerCode,
        hour: new Date(hourMs),
        packed: JSON.stringify(packed),
        place: ((atMs - hourMs) / MINUTE) * bytesPerMinute + 1,
        bytes: bytesPerMinute,
      },
    );
  }
}

function hexOf(bytes: Uint8Array): string {
  return `\\x${Buffer.from(bytes).toString('hex')}`;
}

/** What an upstream tells of use; undefined: nothing, or nobody has told. */
export async function findTelemetryTold(
  db: Database,
  providerCode: string,
): Promise<TelemetryTold | undefined> {
  const row = await db('providers').where({ code: providerCode }).first('telemetry');
  return row?.telemetry ?? undefined;
}

/** Lists the kept hours of a rental that have a part in a time, oldest first. */
export async function listTelemetryHours(
  db: Database,
  rentalNo: number,
  { from, to }: { readonly from: Date; readonly to: Date },
): Promise<(TelemetryHour & { readonly source: 'upstream' })[]> {
  return db('telemetry_hours')
    .where({ rental_no: rentalNo })
    .where('hour', '>', new Date(from.getTime() - HOUR))
    .where('hour', '<', to)
    .orderBy('hour')
    .select('hour', 'source', 'minutes');
}
