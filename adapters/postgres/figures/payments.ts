import type { FigureGroup, Sample } from '../../metrics/figures.js';
import { declinesOfLastHour } from '../payments/declines.js';
import type { ChargeMarkRow } from '../rows/tables.js';

const quantiles = [0.5, 0.95, 1] as const;

const markKinds: readonly ChargeMarkRow['kind'][] = ['dispute', 'early_fraud_warning'];

/** Events of the processor, and those that nobody has acted on yet. */
export const paymentFigures: FigureGroup = {
  name: 'payments',
  metrics: {
    webhook_lag_seconds: {
      help: 'From an event at the processor to its handling here, quantiles over those that came within the last hour.',
      labels: ['quantile'],
    },
    events_handled_last_hour: {
      help: 'Events of the processor that came within the last hour and are handled.',
    },
    events_unhandled: { help: 'Events of the processor that are stored and not handled.' },
    oldest_unhandled_event_seconds: { help: 'Age of the oldest of them; 0: none.' },
    parked_payments: { help: 'Payments that nobody could be credited with and no operator has resolved.' },
    card_declines_last_hour: {
      help: 'Cards that banks declined within the last hour, on pages, in forms and by charges (ops declines).',
    },
    charge_marks: {
      help: 'Denied payments whose payer and card are not charged until an operator lifts the mark (ops marks).',
      labels: ['kind'],
    },
    oldest_open_charge_seconds: {
      help: 'Age of the oldest charge of a saved card whose outcome is not known; 0: none.',
    },
  },
  async read(trx) {
    const { rows: handled } = await trx.raw<{ rows: Handled[] }>(
      `select count(*) as events,
              percentile_cont(array[${quantiles.join(', ')}])
                within group (order by greatest(0, extract(epoch from handled_at - created_at))::float8) as seconds
         from processor_events
        where received_at > now() - interval '1 hour' and handled_at is not null and workflow_id is not null`,
    );
    const { rows } = await trx.raw<{ rows: Waiting[] }>(
      `select e.*, c.*, (select count(*) from parked_payments where resolved_at is null) as parked,
              (${declinesOfLastHour}) as declines
         from (select count(*) as unhandled, coalesce(extract(epoch from now() - min(received_at)), 0)::float8 as "oldestS"
                 from processor_events where handled_at is null) e,
              (select coalesce(extract(epoch from now() - min(charge_sent_at)), 0)::float8 as "chargeS"
                 from topups where closed_at is null) c`,
    );
    const { rows: marks } = await trx.raw<{ rows: { kind: string; marks: number }[] }>(
      'select kind, count(*) as marks from charge_marks where lifted_at is null group by kind',
    );
    const now = rows[0] ?? { unhandled: 0, oldestS: 0, chargeS: 0, parked: 0, declines: 0 };
    return [
      ...handledSamples(handled[0]),
      { metric: 'events_unhandled', value: now.unhandled },
      { metric: 'oldest_unhandled_event_seconds', value: Math.max(0, now.oldestS) },
      { metric: 'parked_payments', value: now.parked },
      { metric: 'card_declines_last_hour', value: now.declines },
      ...markKinds.map((kind) => ({
        metric: 'charge_marks',
        labels: { kind },
        value: marks.find((row) => row.kind === kind)?.marks ?? 0,
      })),
      { metric: 'oldest_open_charge_seconds', value: Math.max(0, now.chargeS) },
    ];
  },
};

interface Waiting {
  unhandled: number;
  oldestS: number;
  chargeS: number;
  parked: number;
  declines: number;
}

interface Handled {
  events: number;
  seconds: number[] | null;
}

function handledSamples({ events, seconds }: Handled = { events: 0, seconds: null }): Sample[] {
  return [
    ...(seconds ?? []).map((value, index) => ({
      metric: 'webhook_lag_seconds',
      labels: { quantile: String(quantiles[index]) },
      value,
    })),
    { metric: 'events_handled_last_hour', value: events },
  ];
}
