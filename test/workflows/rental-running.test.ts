import assert from 'node:assert/strict';
import type { RentalLook } from '../../activities/rentals/rental.js';
import type { RentalId } from '../../domain/ids.js';
import { lookSignal } from '../../workflows/contracts/signals.js';
import { together } from '../support/together.js';
import {
  closedGate,
  inTurn,
  MockedWorkflows,
  usingUpItsSchedule,
  type MockedRun,
  type Script,
} from '../support/workflows/mocked-activities.js';
import {
  durations,
  look,
  looks,
  never,
  round,
  ScriptedRow,
  stop,
  takeUp,
} from '../support/workflows/scripted-rental.js';

/** Each test has a workflow of its own. */
const it = together();

describe('the workflow of a rental that has its machine', () => {
  let workflows: MockedWorkflows;
  before(async () => {
    workflows = await MockedWorkflows.start();
  });
  after(() => workflows.stop());

  /** Asserts that whoever stops it still waits: its bill is being made. */
  async function assertUnanswered(run: MockedRun): Promise<void> {
    assert.ok(!(await run.updates()).includes('completed'), 'its bill is being made');
  }

  describe('that runs', () => {
    /** A rental that runs until the test ends it. */
    async function running(
      script: Script = {},
    ): Promise<{ run: MockedRun; row: ScriptedRow; rentalId: RentalId }> {
      const row = new ScriptedRow('running');
      return { ...(await takeUp(workflows, { ...row.script, ...script })), row };
    }

    async function end(run: MockedRun, row: ScriptedRow): Promise<void> {
      await row.moveTo('ended');
      await run.handle.signal(lookSignal);
      assert.deepEqual(await run.result(), { outcome: 'stopped' });
    }

    it('meters again when nobody told it anything for as long as the last round said', async () => {
      const { run, row } = await running({ meterRental: inTurn(round(21), round(never)) });
      await run.called('meterRental', 2);
      assert.deepEqual(await run.waits(2), [21, never]);
      await run.handle.terminate('seen');
      assert.deepEqual(run.names, ['lookAtRental', 'meterRental', 'meterRental']);
      assert.equal(row.phase, 'running');
    });

    it('meters at once when it is told to look', async () => {
      const { run, row } = await running();
      await run.waits(1);
      await run.handle.signal(lookSignal);
      await run.called('meterRental', 2);
      assert.deepEqual(await run.waits(2), [never, never]);
      await end(run, row);
    });

    it('meters again at once when it was told to look while it metered', async () => {
      let rounds = 0;
      const { run, row } = await running({
        meterRental: async () => {
          rounds += 1;
          if (rounds === 1) await run.handle.signal(lookSignal);
          return row.meter();
        },
      });
      await run.called('meterRental', 2);
      // What arrives during a step within a task comes with the next task, which ends the wait at once.
      assert.deepEqual(await run.waits(2), [never, never]);
      assert.equal(rounds, 2);
      await end(run, row);
    });

    it('leaves the loop when its row shows another phase, though its round had nothing to end', async () => {
      const { run, rentalId } = await takeUp(workflows, {
        lookAtRental: looks('running'),
        meterRental: () => Promise.resolve(round(never, 'ended')),
        settleRental: looks('closed'),
      });
      await run.result();
      assert.deepEqual(run.calls.slice(1), [
        ['meterRental', rentalId, durations.beltMs],
        ['settleRental', rentalId],
      ]);
      assert.deepEqual(await run.timers(), [], 'it has waited for nothing');
    });

    it('answers whoever stops it once its bill is made, and never before', async () => {
      const settling = closedGate();
      const ending = closedGate();
      const { run, row } = await running({
        settleRental: async () => {
          await settling.opened;
          return row.moveTo('end_pod');
        },
        endPods: () => ending.opened,
      });
      await run.waits(1);
      await row.moveTo('ended');
      const stopped = stop(run);
      await run.called('settleRental');
      await assertUnanswered(run);
      settling.open();
      await stopped;
      ending.open();
      assert.deepEqual(await run.result(), { outcome: 'stopped' });
      assert.ok(run.names.indexOf('settleRental') < run.names.indexOf('endPods'));
    });

    it('is ended by the run that whoever stops it waits at, however long that is, and not by a new one', async () => {
      const { run, row } = await running();
      await run.waits(1);
      const { runId } = await run.handle.describe();
      const stopped = stop(run);
      await run.called('meterRental', 2);
      const length = async () => (await run.handle.describe()).historyLength;
      // More than a run has that goes on as a new one.
      while ((await length()) <= 1_000) {
        await Promise.all(Array.from({ length: 100 }, () => run.handle.signal(lookSignal)));
      }
      const rounds = run.names.filter((name) => name === 'meterRental').length;
      await run.handle.signal(lookSignal);
      await run.called('meterRental', rounds + 1);
      await end(run, row);
      await stopped;
      assert.equal((await run.handle.describe()).runId, runId);
    });

    it('goes through its end without a word to anybody when its machine was lost', async () => {
      const { run, row } = await running({
        meterRental: async () => {
          await row.moveTo('ended');
          return row.meter();
        },
      });
      assert.deepEqual(await run.result(), { outcome: 'stopped' });
      assert.deepEqual(run.names.slice(1), ['meterRental', 'settleRental', 'endPods', 'closeRental']);
    });

    it('answers at once whoever stops it after it was settled', async () => {
      const ending = closedGate();
      const { run, row } = await running({ endPods: () => ending.opened });
      await run.waits(1);
      await row.moveTo('ended');
      await run.handle.signal(lookSignal);
      await run.called('endPods');
      await stop(run);
      ending.open();
      assert.deepEqual(await run.result(), { outcome: 'stopped' });
    });
  });

  describe('whose step has used up its schedule', () => {
    /** A step fails within its workflow's task, and then as an activity. */
    const gone = [usingUpItsSchedule(), usingUpItsSchedule()] as const;

    it('looks again after 5 seconds, then after 10, and after 5 again once a step went well', async () => {
      const { run } = await takeUp(workflows, {
        lookAtRental: inTurn<RentalLook>(...gone, ...gone, look('find_pod'), ...gone, look('closed')),
        findPod: () => Promise.resolve(null),
      });
      for (const waits of [1, 2, 3]) {
        await run.waits(waits);
        await run.handle.signal(lookSignal);
      }
      assert.deepEqual(await run.result(), { outcome: 'stopped' });
      assert.deepEqual(await run.timers(), [5_000, 10_000, 5_000]);
    });

    it('counts on when the look goes well and the step after it fails', async () => {
      const { run } = await takeUp(workflows, {
        lookAtRental: looks('ended', 'ended', 'ended'),
        settleRental: inTurn<RentalLook>(...gone, ...gone, look('closed')),
      });
      for (const waits of [1, 2]) {
        await run.waits(waits);
        await run.handle.signal(lookSignal);
      }
      await run.result();
      assert.deepEqual(await run.timers(), [5_000, 10_000]);
    });

    it('looks again without a pause when it was told to look meanwhile', async () => {
      const { run } = await takeUp(workflows, {
        lookAtRental: looks('ended', 'closed'),
        settleRental: async () => {
          await run.handle.signal(lookSignal);
          throw usingUpItsSchedule();
        },
      });
      assert.deepEqual(await run.result(), { outcome: 'stopped' });
      assert.deepEqual(await run.timers(), []);
    });

    it('answers whoever stops it before its bill is made, for its request is a row', async () => {
      const row = new ScriptedRow('ended');
      const settling = closedGate();
      let settled = 0;
      const { run } = await takeUp(workflows, {
        ...row.script,
        settleRental: async () => {
          settled += 1;
          if (settled <= 2) throw usingUpItsSchedule();
          await settling.opened;
          return row.moveTo('end_pod');
        },
      });
      assert.deepEqual(await run.waits(1), [5_000]);
      await stop(run);
      settling.open();
      assert.deepEqual(await run.result(), { outcome: 'stopped' });
      // The third one held up its task for as long as such a step may, and so the answer.
      assert.equal(settled, 4);
    });

    it('lets whoever stops it wait for its bill as soon as it goes on again', async () => {
      const row = new ScriptedRow('running');
      const settling = closedGate();
      let metered = 0;
      const { run } = await takeUp(workflows, {
        ...row.script,
        meterRental: () => {
          metered += 1;
          if (metered <= 2) return Promise.reject(usingUpItsSchedule());
          return row.meter();
        },
        settleRental: async () => {
          await settling.opened;
          return row.moveTo('end_pod');
        },
      });
      await run.waits(1);
      await run.handle.signal(lookSignal);
      await run.waits(2);
      await row.moveTo('ended');
      const stopped = stop(run);
      await run.called('settleRental');
      await assertUnanswered(run);
      settling.open();
      await stopped;
      assert.deepEqual(await run.result(), { outcome: 'stopped' });
    });
  });

  it('that is cancelled ends, whatever it was doing', async () => {
    const { run } = await takeUp(workflows, new ScriptedRow('running').script);
    await run.waits(1);
    await run.handle.cancel();
    await assert.rejects(run.result(), { name: 'WorkflowFailedError', message: /cancelled/i });
  });
});
