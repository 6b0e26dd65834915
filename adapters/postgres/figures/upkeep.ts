import type { FigureGroup } from '../../metrics/figures.js';
import type { BrakeRow } from '../tables.js';

const brakeKinds: readonly BrakeRow['kind'][] = ['creates', 'charges', 'metering'];

/** Mails, brakes, and whether the schedules run. */
export const upkeepFigures: FigureGroup = {
  name: 'upkeep',
  metrics: {
    mails_unsent: { help: 'Mails in the outbox that are not sent.' },
    oldest_unsent_mail_seconds: { help: 'Age of the oldest of them; 0: none.' },
    brake_pulled: { help: '1 while operators have pulled this brake (decision 37).', labels: ['brake'] },
    watermark_age_seconds: { help: 'Since the schedule "housekeeping" last raised the watermark.' },
  },
  async read(trx) {
    const { rows } = await trx.raw<{
      rows: { mails: number; mailS: number; watermarkS: number; brakes: string[] }[];
    }>(
      `select m.*, coalesce((select extract(epoch from now() - raised_at)::float8 from watermark), 'Infinity') as "watermarkS",
              array(select kind from brakes) as brakes
         from (select count(*) as mails, coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as "mailS"
                 from mail_outbox where sent_at is null) m`,
    );
    const now = rows[0] ?? { mails: 0, mailS: 0, watermarkS: Infinity, brakes: [] };
    return [
      { metric: 'mails_unsent', value: now.mails },
      { metric: 'oldest_unsent_mail_seconds', value: Math.max(0, now.mailS) },
      ...brakeKinds.map((brake) => ({
        metric: 'brake_pulled',
        labels: { brake },
        value: now.brakes.includes(brake) ? 1 : 0,
      })),
      { metric: 'watermark_age_seconds', value: Math.max(0, now.watermarkS) },
    ];
  },
};
