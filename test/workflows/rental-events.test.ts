import assert from 'node:assert/strict';
import { ApplicationFailure } from '@temporalio/client';
import type { PodOutcome } from '../../activities/machines/await-pod.js';
import { newId } from '../../adapters/ids.js';
import { rentalWorkflow } from '../../workflows/contracts/rental.js';
import { lookSignal } from '../../workflows/contracts/signals.js';
import { together } from '../support/together.js';
import { until } from '../support/until.js';
import {
  closedGate,
  MockedWorkflows,
  usingUpItsSchedule,
  type MockedRun,
  type Script,
} from '../support/workflows/mocked-activities.js';
import { durations, look, ScriptedRow, stop } from '../support/workflows/scripted-rental.js';

/** Each test has a workflow of its own. */
const it = together();

/**
 * How many events each way of life costs Temporal's database (docs/scale.md). A number that grows is a rental that costs
 * more: it is raised in review only.
 */
const eventsOf = {
  'rented and stopped': 43,
  'stopped by a limit, which nobody told': 41,
  'its machine was lost': 41,
  'its machine failed to boot': 31,
  'stopped while it was provisioned': 37,
  refused: 13,
  'a round of the second belt more': 6,
  'a step that does not go well within its task': 6,
} as const;

describe('the events of a rental’s life', () => {
  let workflows: MockedWorkflows;
  before(async () => {
    workflows = await MockedWorkflows.start();
  });
  after(() => workflows.stop());

  interface Life {
    readonly run: MockedRun;
    readonly row: ScriptedRow;
  }

  /** A rental that is opened as the API opens it, with the outcome of waiting for its machine. */
  async function open(pod: PodOutcome | Promise<PodOutcome>, script: Script = {}): Promise<Life> {
    const row = new ScriptedRow('await_pod');
    const rentalId = newId('rent');
    const input = { rentalId, open: { answerBefore: '2030-01-01T00:00:00.000Z' }, durations };
    const opened = { rentalId, pricePerHourCents: 399, providerCode: 'lab', look: row.seen() };
    const { run, answer } = await workflows.open(rentalWorkflow.type, rentalId, input, {
      ...row.script,
      openRental: () => Promise.resolve(opened),
      awaitPod: () => Promise.resolve(pod),
      startMetering: () => row.moveTo('running'),
      ...script,
    });
    await answer.catch(() => undefined);
    return { run, row };
  }

  const answered: PodOutcome = { kind: 'answered' };

  async function lengthOf(run: MockedRun): Promise<number> {
    const { events } = await run.handle.fetchHistory();
    return events?.length ?? 0;
  }

  async function updatesTaken(run: MockedRun): Promise<number> {
    const { events } = await run.handle.fetchHistory();
    return events?.filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes).length ?? 0;
  }

  async function stopped({ run, row }: Life): Promise<number> {
    await row.moveTo('ended');
    await stop(run);
    await run.result();
    return lengthOf(run);
  }

  it('rented and stopped', async () => {
    const life = await open(answered);
    await life.run.waits(1);
    assert.equal(await stopped(life), eventsOf['rented and stopped']);
  });

  it('stopped by a limit, which nobody told', async () => {
    let rounds = 0;
    const life = await open(answered, {
      meterRental: async () => {
        rounds += 1;
        if (rounds === 1) return { nextLookMs: 20, look: life.row.seen() };
        await life.row.moveTo('ended');
        return life.row.meter();
      },
    });
    await life.run.result();
    assert.equal(await lengthOf(life.run), eventsOf['stopped by a limit, which nobody told']);
  });

  it('its machine was lost', async () => {
    const { run, row } = await open(answered);
    await run.waits(1);
    // The loss settles it.
    await row.moveTo('end_pod');
    await run.handle.signal(lookSignal);
    await run.result();
    assert.equal(await lengthOf(run), eventsOf['its machine was lost']);
  });

  it('its machine failed to boot', async () => {
    const { run } = await open(
      { kind: 'failed', error: 'It never booted.' },
      {
        giveUpProvisioning: () => Promise.resolve(look('end_pod', 'failed')),
        closeRental: () => Promise.resolve(look('closed', 'failed')),
      },
    );
    await run.result();
    assert.equal(await lengthOf(run), eventsOf['its machine failed to boot']);
  });

  it('stopped while it was provisioned', async () => {
    const asked = closedGate();
    const life = await open(asked.opened.then(() => ({ kind: 'stopped' })));
    await life.run.called('awaitPod');
    const answer = stop(life.run);
    // The opening is the first update. One that comes with the machine's outcome costs three events less.
    await until('the stop is taken', async () => (await updatesTaken(life.run)) === 2);
    asked.open();
    await answer;
    await life.run.result();
    assert.equal(await lengthOf(life.run), eventsOf['stopped while it was provisioned']);
  });

  it('refused', async () => {
    const refusal = ApplicationFailure.nonRetryable('Top up first.', 'insufficient_balance');
    const { run } = await open(answered, { openRental: () => Promise.reject(refusal) });
    await run.result();
    assert.equal(await lengthOf(run), eventsOf.refused);
  });

  it('a round of the second belt more', async () => {
    let rounds = 0;
    const life = await open(answered, {
      meterRental: () => {
        rounds += 1;
        return rounds === 1 ? Promise.resolve({ nextLookMs: 20, look: look('running') }) : life.row.meter();
      },
    });
    await life.run.waits(2);
    const more = (await stopped(life)) - eventsOf['rented and stopped'];
    assert.equal(more, eventsOf['a round of the second belt more']);
  });

  it('a step that does not go well within its task', async () => {
    let tries = 0;
    const life = await open(answered, {
      settleRental: () => {
        tries += 1;
        return tries === 1 ? Promise.reject(usingUpItsSchedule()) : life.row.moveTo('end_pod');
      },
    });
    await life.run.waits(1);
    const more = (await stopped(life)) - eventsOf['rented and stopped'];
    assert.equal(more, eventsOf['a step that does not go well within its task']);
  });
});
