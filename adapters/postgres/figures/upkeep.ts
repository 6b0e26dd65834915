import { operationLimits } from '../../../domain/operations/limits.js';
import { brakeKinds } from '../../../domain/operations/operation.js';
import { duties, type Duty } from '../../../domain/operations/stuck.js';
import type { FigureGroup } from '../../metrics/figures.js';

/** Mails, brakes, stuck items, and whether the upkeep runs. */
export const upkeepFigures: FigureGroup = {
  name: 'upkeep',
  metrics: {
    mails_unsent: { help: 'Mails in the outbox that are not sent.' },
    oldest_unsent_mail_seconds: { help: 'Age of the oldest of them that is not set aside; 0: none.' },
    brake_pulled: { help: '1 while operators have pulled this brake (decision 37).', labels: ['brake'] },
    set_aside_items: {
      help: 'Items that failed so often that they are tried once an hour (ops set-aside list).',
      labels: ['duty'],
    },
    stuck_items: { help: 'Items whose last try failed, those that are set aside among them.' },
    looks_capped: { help: 'Workflows that were told to look as often today as they may be in a day.' },
    watermark_age_seconds: { help: 'Since the loop "upkeep:housekeeping" last raised the watermark.' },
    sealing_age_seconds: {
      help: 'Since sealing last looked at all wallets, or was switched on; 0 while it is off.',
    },
  },
  async read(trx) {
    const { rows } = await trx.raw<{
      rows: { mails: number; mailS: number; watermarkS: number; sealingS: number; brakes: string[] }[];
    }>(
      `select m.*, coalesce((select extract(epoch from now() - raised_at)::float8 from watermark), 'Infinity') as "watermarkS",
              coalesce((select extract(epoch from now() - coalesce(walked_at, changed_at))::float8
                          from ledger_sealing where is_on), 0) as "sealingS",
              array(select kind from brakes) as brakes
         from (select count(*) as mails, coalesce(extract(epoch from now() - min(created_at) filter (where not exists (
                      select 1 from stuck_items s
                       where s.duty = 'mail' and s.item = o.id::text and s.set_aside_at is not null))), 0)::float8 as "mailS"
                 from mail_outbox o where sent_at is null) m`,
    );
    const { rows: stuck } = await trx.raw<{ rows: { duty: string; items: number; aside: number }[] }>(
      `select duty, count(*) as items, count(set_aside_at) as aside from stuck_items
        where next_attempt_at > now() - interval '3 hours' group by duty`,
    );
    const { rows: looks } = await trx.raw<{ rows: { capped: number }[] }>(
      `select count(*) as capped from look_signals
        where counted_on = (now() at time zone 'UTC')::date and signals >= :perDay and signals >= 900`,
      { perDay: operationLimits.looksPerDay },
    );
    const now = rows[0] ?? { mails: 0, mailS: 0, watermarkS: Infinity, sealingS: 0, brakes: [] };
    return [
      { metric: 'mails_unsent', value: now.mails },
      { metric: 'oldest_unsent_mail_seconds', value: Math.max(0, now.mailS) },
      ...brakeKinds.map((brake) => ({
        metric: 'brake_pulled',
        labels: { brake },
        value: now.brakes.includes(brake) ? 1 : 0,
      })),
      ...(Object.keys(duties) as Duty[]).map((duty) => ({
        metric: 'set_aside_items',
        labels: { duty },
        value: stuck.find((row) => row.duty === duty)?.aside ?? 0,
      })),
      { metric: 'stuck_items', value: stuck.reduce((sum, { items }) => sum + items, 0) },
      { metric: 'looks_capped', value: looks[0]?.capped ?? 0 },
      { metric: 'watermark_age_seconds', value: Math.max(0, now.watermarkS) },
      { metric: 'sealing_age_seconds', value: Math.max(0, now.sealingS) },
    ];
  },
};
