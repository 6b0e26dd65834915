import assert from 'node:assert/strict';
import { ApplicationFailure } from '@temporalio/client';
import { newId } from '../../adapters/ids.js';
import type { Activities } from '../../activities/index.js';
import { operationWorkflow } from '../../workflows/contracts/operation.js';
import { lookSignal } from '../../workflows/contracts/signals.js';
import { together } from '../support/together.js';
import {
  inTurn,
  MockedWorkflows,
  usingUpItsSchedule,
  type MockedRun,
  type Script,
} from '../support/workflows/mocked-activities.js';

/** Each test has a workflow of its own. */
const it = together();

type Pass = Awaited<ReturnType<Activities['refundRentals']>>;

function goingOn(done: number, pauseMs: number): Pass {
  return { outcome: 'going_on', done, of: 3, pauseMs };
}

describe('the workflow of what an operator does by hand', () => {
  let workflows: MockedWorkflows;
  before(async () => {
    workflows = await MockedWorkflows.start();
  });
  after(() => workflows.stop());

  async function begin(script: Script): Promise<{ run: MockedRun; input: object }> {
    const operationId = newId('op');
    const input = { operationId };
    return { run: await workflows.begin(operationWorkflow.type, operationId, input, script), input };
  }

  for (const answer of [
    { outcome: 'done' },
    { outcome: 'waiting' },
    { outcome: 'refused', code: 'not_found', message: 'There is no such order.' },
  ] as const) {
    it(`answers what became of its order: ${answer.outcome}`, async () => {
      const { run, input } = await begin({ operate: () => Promise.resolve(answer) });
      assert.deepEqual(await run.result(), answer);
      assert.deepEqual(run.calls, [['operate', input]]);
      assert.deepEqual(await run.attributes(), { EntityStatus: answer.outcome });
    });
  }

  it('answers with a refusal that its activity throws, and does not fail', async () => {
    const failure = ApplicationFailure.nonRetryable('There is no such order.', 'not_found');
    const { run } = await begin({ operate: inTurn<never>(failure) });
    const refused = { outcome: 'refused', code: 'not_found', message: 'There is no such order.' };
    assert.deepEqual(await run.result(), refused);
    assert.deepEqual(await run.attributes(), { EntityStatus: 'refused' });
  });

  describe('whose order is about many rentals', () => {
    const begun = (): Promise<{ outcome: 'begun' }> => Promise.resolve({ outcome: 'begun' });

    it('goes through them pass after pass, without a pause while any can be done at once', async () => {
      const { run, input } = await begin({
        operate: begun,
        refundRentals: inTurn<Pass>(goingOn(1, 0), goingOn(2, 0), { outcome: 'done' }),
      });
      assert.deepEqual(await run.result(), { outcome: 'done' });
      const { operationId } = input as { operationId: string };
      const pass = ['refundRentals', operationId];
      assert.deepEqual(run.calls, [['operate', input], pass, pass, pass]);
      assert.deepEqual(await run.timers(), []);
      assert.deepEqual(await run.attributes(), { EntityStatus: 'done' });
    });

    it('waits for those that failed as long as the pass said', async () => {
      const { run } = await begin({
        operate: begun,
        refundRentals: inTurn<Pass>(goingOn(2, 17), { outcome: 'done' }),
      });
      assert.deepEqual(await run.result(), { outcome: 'done' });
      assert.deepEqual(await run.timers(), [17]);
    });

    it('does not wait on when an operator lets it look', async () => {
      const { run } = await begin({
        operate: begun,
        refundRentals: inTurn<Pass>(goingOn(2, 3_600_000), { outcome: 'done' }),
      });
      await run.waits(1);
      assert.deepEqual(await run.attributes(), { EntityStatus: 'going_on' });
      await run.handle.signal(lookSignal);
      assert.deepEqual(await run.result(), { outcome: 'done' });
    });

    it('ends when somebody has rejected it meanwhile', async () => {
      const rejected = { outcome: 'refused', code: 'rejected' } as const;
      const { run } = await begin({
        operate: begun,
        refundRentals: inTurn<Pass>(goingOn(1, 0), rejected),
      });
      assert.deepEqual(await run.result(), rejected);
    });

    it('goes on after 5 seconds, then after 10, when a pass has used up its schedule', async () => {
      const away = usingUpItsSchedule();
      const { run } = await begin({
        operate: begun,
        refundRentals: inTurn<Pass>(away, away, goingOn(1, 0), away, { outcome: 'done' }),
      });
      for (const waits of [1, 2, 3]) {
        await run.waits(waits);
        await run.handle.signal(lookSignal);
      }
      assert.deepEqual(await run.result(), { outcome: 'done' });
      assert.deepEqual(await run.timers(), [5_000, 10_000, 5_000]);
    });
  });
});
