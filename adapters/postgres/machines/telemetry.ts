import { HOUR, MINUTE } from '../../../domain/durations.js';
import {
  bytesPerMinute,
  packMinute,
  type MinuteOfUse,
  type TelemetryHour,
  type TelemetrySource,
  type TelemetryTold,
} from '../../../domain/machines/telemetry.js';
import { readUse } from '../../../domain/machines/use-report.js';
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
  source: TelemetrySource = 'upstream',
): Promise<void> {
  for (const [atMs, told] of groupedBy(minutes, ({ atMs }) => atMs)) {
    const hourMs = Math.floor(atMs / HOUR) * HOUR;
    const packed = told.map((minute) => ({ id: minute.podId, use: hexOf(packMinute(minute)) }));
    await db.raw(
      `insert into telemetry_hours as t (rental_no, hour, source, minutes)
       select r.no, :hour, :source,
              overlay(decode(repeat('ff', 300), 'hex') placing x.use from :place::int)
         from jsonb_to_recordset(:packed::jsonb) as x (id text, use bytea)
         join rentals r on r.provider_code = :providerCode and r.pod_id = x.id
                       and r.closed_at is null and r.status = 'running'
       on conflict (rental_no, hour) do update set
         minutes = overlay(t.minutes placing substring(excluded.minutes from :place::int for :bytes::int)
                           from :place::int)`,
      {
        providerCode,
        source,
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

/**
 * Reads what machines of an upstream reported of their use since an instant, as minutes; a machine's newest report alone.
 * @param since by the database's clock
 */
export async function readReportedUse(
  db: Database,
  providerCode: string,
  since: Date,
): Promise<MinuteOfUse[]> {
  const { rows } = await db.raw<{ rows: { podId: string; gpuCount: number; atMs: number; body: string }[] }>(
    `select r.pod_id as "podId", r.gpu_count as "gpuCount", epoch_ms(u.received_at) as "atMs", u.body
       from machine_uses u
       join allocation_attempts a on a.id = u.attempt_id
       join rentals r on r.id = a.rental_id and r.provider_code = a.provider_code and r.tag = a.tag
      where u.received_at > :since and r.provider_code = :providerCode
        and r.closed_at is null and r.status = 'running' and r.pod_id is not null`,
    { providerCode, since },
  );
  return rows.map(({ podId, gpuCount, atMs, body }) => ({
    ...{ podId, atMs: Math.floor(atMs / MINUTE) * MINUTE, firstMs: atMs, lastMs: atMs },
    ...readUse(body, gpuCount),
  }));
}

/** What is told of the use of an upstream's machines; undefined: nothing, or nobody has told. */
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
): Promise<TelemetryHour[]> {
  return db('telemetry_hours')
    .where({ rental_no: rentalNo })
    .where('hour', '>', new Date(from.getTime() - HOUR))
    .where('hour', '<', to)
    .orderBy('hour')
    .select('hour', 'source', 'minutes');
}
