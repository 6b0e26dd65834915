import type { FigureGroup } from '../../metrics/figures.js';

/** The feed of events: whether the sequencer keeps up. */
export const eventFigures: FigureGroup = {
  name: 'events',
  metrics: {
    events_waiting: { help: 'Events in the outbox that have no number yet.' },
    oldest_waiting_event_seconds: { help: 'Age of the oldest of them; 0: none.' },
  },
  async read(trx) {
    // The oldest stands first: the outbox is numbered in the order of writing.
    const { rows } = await trx.raw<{ rows: { waiting: number; oldestS: number }[] }>(
      `select (select count(*) from event_outbox) as waiting,
              coalesce((select extract(epoch from now() - at)::float8 from event_outbox order by no limit 1), 0)
                as "oldestS"`,
    );
    const { waiting, oldestS } = rows[0] ?? { waiting: 0, oldestS: 0 };
    return [
      { metric: 'events_waiting', value: waiting },
      { metric: 'oldest_waiting_event_seconds', value: Math.max(0, oldestS) },
    ];
  },
};
