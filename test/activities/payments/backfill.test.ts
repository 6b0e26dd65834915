import assert from 'node:assert/strict';
import { Context } from '@temporalio/activity';
import { createBackfillActivities } from '../../../activities/payments/backfill.js';
import { ProcessorError, type ProcessorEvent } from '../../../adapters/processor/processor.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';
import { runAlone, type LoneActivity } from '../../support/service/activity-context.js';

const HOUR_MS = 3_600_000;

describe('backfillEvents', () => {
  let activities: LoneActivities;
  let startedAt: Date;
  /** The page that the processor can't serve. */
  let away: number | undefined;
  let refusal: ProcessorError;
  const pages = 6;
  before(async () => {
    activities = await startActivities();
  });
  after(() => activities.close());
  beforeEach(async () => {
    away = undefined;
    refusal = new ProcessorError('unknown', 'no answer', {});
    activities.processor.reset();
    activities.processor.answers.listEvents = ({ after }) => {
      const page = after === null ? 1 : Number(after.slice('evt_'.length)) + 1;
      if (page === away) return Promise.reject(refusal);
      return Promise.resolve({ events: [eventOf(page)], after: page < pages ? `evt_${page}` : null });
    };
    startedAt = new Date(Date.now() - HOUR_MS);
    await activities.db('processor_events').delete();
    await activities.db('event_cursor').update({ seen_until: startedAt });
  });

  function eventOf(page: number): ProcessorEvent {
    const id = `evt_${page}`;
    const object = { object: 'payment_intent', id: `pi_${page}` };
    const createdAt = new Date(startedAt.getTime() + (pages - page + 1) * 60_000);
    const told = { livemode: false, apiVersion: null, object, createdAt };
    return { id, kind: 'payment_intent.succeeded', ...told };
  }

  /** One try. @param before the try before it, whose last heartbeat it is told */
  function attempt(before?: LoneActivity<unknown>): LoneActivity<{ read: number; missed: number }> {
    return runAlone(() => {
      Object.assign(Context.current().info, { heartbeatDetails: before?.beats.at(-1) });
      return createBackfillActivities(activities.deps).backfillEvents();
    });
  }
  const askedAfter = (): (string | null)[] =>
    (activities.processor.argsOf('listEvents') as { after: string | null }[]).map(({ after }) => after);
  const seenUntil = async (): Promise<Date> => (await activities.db('event_cursor').first())!.seen_until;

  it('goes on at the page at which the try before it ended, and moves the cursor to the newest event', async () => {
    away = 4;
    const first = attempt();
    await assert.rejects(first.result, /no answer/);
    assert.deepEqual(await seenUntil(), startedAt);
    activities.processor.asked.length = 0;
    const second = attempt(first);
    await assert.rejects(second.result, /no answer/);
    assert.deepEqual(askedAfter(), ['evt_3']);
    away = undefined;
    activities.processor.asked.length = 0;
    const third = attempt(second);
    assert.deepEqual(await third.result, { read: 6, missed: 6 });
    assert.deepEqual(askedAfter(), ['evt_3', 'evt_4', 'evt_5']);
    const sinces = new Set(
      (activities.processor.argsOf('listEvents') as { since: Date }[]).map(({ since }) => since.getTime()),
    );
    assert.equal(sinces.size, 1);
    assert.deepEqual(await seenUntil(), eventOf(1).createdAt, 'the newest one was on the first page');
  });

  it('leaves it to the next run to begin anew where the processor does not know the place any more', async () => {
    away = 4;
    refusal = new ProcessorError('refused', 'no such event', { code: 'resource_missing', status: 404 });
    await assert.rejects(attempt().result, { type: 'place_forgotten', nonRetryable: true });
  });

  it('keeps the cursor where an event of an earlier try could not be taken in', async () => {
    await activities.db.raw(
      `create function poison() returns trigger language plpgsql as $$ begin raise 'not now'; end $$;
       create trigger poison before insert on processor_events for each row when (new.id = 'evt_2')
         execute function poison()`,
    );
    away = 4;
    const first = attempt();
    await assert.rejects(first.result, /no answer/);
    away = undefined;
    assert.deepEqual(await attempt(first).result, { read: 6, missed: 5 });
    assert.deepEqual(await seenUntil(), startedAt);
  });
});
