import assert from 'node:assert/strict';
import { newId } from '../../adapters/ids.js';
import type { Activities } from '../../activities/index.js';
import { meteringLimits } from '../../domain/metering/limits.js';
import {
  mailerWorkflow,
  meterWorkflow,
  providerWatchWorkflow,
  sequencerWorkflow,
  upkeepWorkflow,
  webhookWakerWorkflow,
} from '../../workflows/contracts/loops.js';
import { together } from '../support/together.js';
import {
  closedGate,
  MockedWorkflows,
  usingUpItsSchedule,
  type MockedRun,
  type Script,
} from '../support/workflows/mocked-activities.js';

/** Each test has a workflow of its own. */
const it = together();

/** A loop: what it is told, and what its activity is told of that. */
interface Loop {
  readonly type: string;
  readonly activity: keyof Activities;
  readonly input: object;
  readonly told: readonly unknown[];
}

const loops: readonly Loop[] = [
  { type: meterWorkflow.type, activity: 'runMeter', input: { shard: 3 }, told: [3] },
  { type: providerWatchWorkflow.type, activity: 'watchProvider', input: { code: 'lab' }, told: ['lab'] },
  { type: mailerWorkflow.type, activity: 'deliverMails', input: {}, told: [] },
  { type: webhookWakerWorkflow.type, activity: 'wakeWebhooks', input: {}, told: [] },
  { type: sequencerWorkflow.type, activity: 'runSequencer', input: {}, told: [] },
  { type: upkeepWorkflow.type, activity: 'runUpkeep', input: { duty: 'sweep' }, told: ['sweep'] },
];

describe('the loops', () => {
  let workflows: MockedWorkflows;
  before(async () => {
    workflows = await MockedWorkflows.start();
  });
  after(() => workflows.stop());

  const begin = (type: string, input: object, script: Script): Promise<MockedRun> =>
    workflows.begin(type, `${type}-${newId('op')}`, input, script);

  for (const { type, activity, input, told } of loops) {
    it(`${type} begins its activity again as soon as it has ended, for a quarter of an hour each`, async () => {
      let rounds = 0;
      const third = closedGate();
      const run = await begin(type, input, {
        [activity]: () => ((rounds += 1) < 3 ? Promise.resolve() : third.opened),
      });
      await run.called(activity, 3);
      const call = [activity, ...told, meteringLimits.meterRunMs];
      assert.deepEqual(run.calls, [call, call, call]);
      assert.deepEqual(await run.timers(), []);
      await run.handle.terminate('seen');
      third.open();
    });

    it(`${type} hands on how long its activity runs, and begins anew after 5 seconds when that used up its schedule`, async () => {
      const second = closedGate();
      let rounds = 0;
      const run = await begin(
        type,
        { ...input, runMs: 17 },
        {
          [activity]: () => ((rounds += 1) === 1 ? Promise.reject(usingUpItsSchedule()) : second.opened),
        },
      );
      await run.called(activity, 2);
      const call = [activity, ...told, 17];
      assert.deepEqual(run.calls, [call, call]);
      assert.deepEqual(await run.timers(), [5_000]);
      await run.handle.terminate('seen');
      second.open();
    });

    it(`${type} that is cancelled ends, and begins nothing any more`, async () => {
      const gate = closedGate();
      const run = await begin(type, input, { [activity]: () => gate.opened });
      await run.called(activity);
      await run.handle.cancel();
      await assert.rejects(run.result(), { name: 'WorkflowFailedError', message: /cancelled/i });
      assert.equal(run.calls.length, 1);
      gate.open();
    });
  }

  it('meter ends when its shard is retired', async () => {
    const run = await begin(meterWorkflow.type, { shard: 3 }, { runMeter: () => Promise.resolve('retired') });
    assert.equal(await run.result(), 'retired');
    assert.deepEqual(run.names, ['runMeter']);
  });

  it('providerWatch ends when its upstream is not configured', async () => {
    const watchProvider = () => Promise.resolve('not configured' as const);
    const run = await begin(providerWatchWorkflow.type, { code: 'lab' }, { watchProvider });
    assert.equal(await run.result(), 'not configured');
    assert.deepEqual(run.names, ['watchProvider']);
  });
});
