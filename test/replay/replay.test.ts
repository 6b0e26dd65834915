import assert from 'node:assert/strict';
import { DeterminismViolationError } from '@temporalio/workflow';
import { Worker, type WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { retiredTypes } from '../../workflows/contracts/index.js';
import * as workflows from '../../workflows/index.js';
import { getBundle } from '../support/service/workers.js';
import { readHistories, type RecordedHistory } from './histories.js';

/**
 * Open runs continue with the code of a newly deployed version, from their histories. Each recording stands for such a
 * run: code that would take another way breaks here first. To record anew: `node --import tsx test/replay/record.ts
 * [beginning of a name]` (see there).
 */
describe('replaying recorded workflows', () => {
  const recorded = readHistories();
  let workflowBundle: WorkflowBundleWithSourceMap;
  before(async () => {
    workflowBundle = await getBundle();
  });

  function replay({ history }: Pick<RecordedHistory, 'history'>): Promise<void> {
    return Worker.runReplayHistory({ workflowBundle }, history);
  }

  it('covers every workflow', () => {
    const types = new Set(recorded.map(({ type }) => type));
    assert.deepEqual([...types, ...retiredTypes].sort(), Object.keys(workflows).sort());
  });

  for (const one of recorded) {
    it(`goes the same way: ${one.name}`, () => replay(one));
  }

  /** The names of the activities that a run scheduled, in order. */
  function activitiesOf(name: string): (string | undefined)[] {
    const events = recorded.find((one) => one.name === name)?.history.events ?? [];
    return events.flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
      scheduled ? [scheduled.activityType.name] : [],
    );
  }

  it('has runs that take their short steps within their tasks', () => {
    assert.deepEqual(activitiesOf('rental.stopped'), ['openRental', 'awaitPod', 'endPods']);
  });

  it('notices a workflow that would go another way', async () => {
    const one = recorded.find(({ name }) => name === 'rental.stopped');
    assert.ok(one);
    const changed = structuredClone(one.history.events).map((event) => {
      const scheduled = event.activityTaskScheduledEventAttributes;
      if (scheduled?.activityType.name !== 'endPods') return event;
      return {
        ...event,
        activityTaskScheduledEventAttributes: { ...scheduled, activityType: { name: 'other' } },
      };
    });
    assert.notDeepEqual(changed, one.history.events);
    await assert.rejects(replay({ history: { events: changed } }), DeterminismViolationError);
  });
});
