import assert from 'node:assert/strict';
import { newId } from '../../adapters/ids.js';
import type { Activities } from '../../activities/index.js';
import { paymentLimits } from '../../domain/payments/limits.js';
import type { EventLook } from '../../workflows/contracts/events.js';
import { processorEventSignal } from '../../workflows/contracts/signals.js';
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

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

function waiting(status: string, nextLookMs?: number): EventLook {
  return {
    state: 'waiting',
    status,
    summary: `it is ${status}`,
    ...(nextLookMs === undefined ? {} : { nextLookMs }),
  };
}

function closed(status: string): EventLook {
  return { state: 'closed', status, summary: `it is ${status}` };
}

type Look = keyof Activities & `lookAt${string}`;

/** A workflow that follows one of the processor's objects. */
interface Follower {
  readonly type: string;
  readonly activity: Look;
  readonly id: string;
  readonly input: object;
  /** The activity's arguments besides its row's id. */
  readonly told?: readonly unknown[];
  /** The waits before it asks by itself, look after look, in milliseconds. */
  readonly waits: readonly number[];
}

function ofProcessor(type: string, activity: Look, waits: readonly number[]): Follower {
  const id = `${type}_${newId('op')}`;
  return { type, activity, id, input: { id }, waits };
}

const userId = newId('usr');
const invoiceId = newId('inv');
const followers: readonly Follower[] = [
  {
    type: 'autoTopup',
    activity: 'lookAtAutoTopup',
    id: userId,
    input: { userId },
    waits: [10 * SECOND, MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, HOUR],
  },
  {
    type: 'invoice',
    activity: 'lookAtInvoice',
    id: invoiceId,
    input: { invoiceId },
    told: [paymentLimits.dayMs],
    waits: [DAY, DAY],
  },
  ofProcessor('payment', 'lookAtPayment', [HOUR, HOUR]),
  ofProcessor('card', 'lookAtCard', [HOUR, HOUR]),
  ofProcessor('refund', 'lookAtRefund', [HOUR, 6 * HOUR, DAY, DAY]),
  ofProcessor('dispute', 'lookAtDispute', [DAY, DAY]),
];

describe('the workflows that follow what happens at the processor', () => {
  let workflows: MockedWorkflows;
  before(async () => {
    workflows = await MockedWorkflows.start();
  });
  after(() => workflows.stop());

  for (const { type, activity, id, input, told = [], waits } of followers) {
    it(`${type} looks at its row at each event, asks by itself ever more rarely, and answers what it saw last`, async () => {
      const answers = waits.map(() => waiting('pending'));
      const script = { [activity]: inTurn(...answers, closed('over')) } as Script;
      const run = await workflows.begin(type, `${type}-of-${id}`, input, script);
      for (const [index] of waits.entries()) {
        await run.waits(index + 1);
        await run.handle.signal(processorEventSignal);
      }
      assert.deepEqual(await run.result(), { outcome: 'over' });
      assert.deepEqual(await run.timers(), waits);
      assert.deepEqual(
        run.calls,
        [...waits, 'the last'].map(() => [activity, id, ...told]),
      );
      assert.deepEqual(await run.attributes(), { EntityStatus: 'over' });
    });
  }

  it('invoice tells its activity how long a day is, and asks once in such a day', async () => {
    const id = newId('inv');
    const lookAtInvoice = inTurn(waiting('draft'), closed('paid'));
    const run = await workflows.begin('invoice', id, { invoiceId: id, dayMs: 37 }, { lookAtInvoice });
    assert.deepEqual(await run.result(), { outcome: 'paid' });
    assert.deepEqual(run.calls, [
      ['lookAtInvoice', id, 37],
      ['lookAtInvoice', id, 37],
    ]);
    assert.deepEqual(await run.timers(), [37]);
  });

  describe('all of them', () => {
    /** Begins an auto-topup, which stands for all of them: they share everything but the activity and the waits. */
    async function begin(script: Script, askAfterMs?: readonly number[]): Promise<MockedRun> {
      const user = newId('usr');
      const told = askAfterMs === undefined ? { userId: user } : { userId: user, askAfterMs };
      return workflows.begin('autoTopup', user, told, script);
    }

    it('end with the first look when nothing is expected', async () => {
      const run = await begin({ lookAtAutoTopup: inTurn(closed('quiet')) });
      assert.deepEqual(await run.result(), { outcome: 'quiet' });
      assert.deepEqual(run.names, ['lookAtAutoTopup']);
      assert.deepEqual(await run.timers(), []);
    });

    it('end when there is nothing of ours to look at', async () => {
      const missing: EventLook = { state: 'missing', status: 'missing', summary: 'no such row' };
      const run = await begin({ lookAtAutoTopup: inTurn(missing) });
      assert.deepEqual(await run.result(), { outcome: 'missing' });
    });

    it('look again when what the last look said is due, such as the end of a cooldown', async () => {
      const run = await begin({
        lookAtAutoTopup: inTurn(waiting('cooling', 23), waiting('processing', 0), closed('succeeded')),
      });
      assert.deepEqual(await run.result(), { outcome: 'succeeded' });
      assert.deepEqual(await run.timers(), [23, 1], 'the server waits a millisecond at least');
    });

    it('ask by themselves when no event comes, after the waits that they were told', async () => {
      const run = await begin(
        { lookAtAutoTopup: inTurn(waiting('processing'), waiting('processing'), closed('succeeded')) },
        [31],
      );
      assert.deepEqual(await run.result(), { outcome: 'succeeded' });
      assert.deepEqual(await run.timers(), [31, 31]);
    });

    it('look once more before they end when an event came while they looked', async () => {
      const run: MockedRun = await begin({
        lookAtAutoTopup: async () => {
          if (run.calls.length === 1) await run.handle.signal(processorEventSignal);
          return closed(`look ${run.calls.length}`);
        },
      });
      assert.deepEqual(await run.result(), { outcome: 'look 2' });
      assert.deepEqual(await run.timers(), [], 'it does not wait for another one');
    });

    it('show that they are stuck when a look has used up its schedule, and look again after 5 seconds, then 10', async () => {
      const away = usingUpItsSchedule();
      const run = await begin({
        lookAtAutoTopup: inTurn<EventLook>(away, away, waiting('processing'), away, closed('succeeded')),
      });
      await run.waits(1);
      assert.deepEqual(await run.attributes(), { EntityStatus: 'stuck' });
      for (const waits of [1, 2, 3, 4]) {
        await run.waits(waits);
        await run.handle.signal(processorEventSignal);
      }
      assert.deepEqual(await run.result(), { outcome: 'succeeded' });
      // After a successful look come the third of the waits for an event and a first pause again.
      assert.deepEqual(await run.timers(), [5 * SECOND, 10 * SECOND, 5 * MINUTE, 5 * SECOND]);
    });

    it('end when they are cancelled', async () => {
      const run = await begin({ lookAtAutoTopup: inTurn(waiting('processing')) });
      await run.waits(1);
      await run.handle.cancel();
      await assert.rejects(run.result(), { name: 'WorkflowFailedError', message: /cancelled/i });
    });
  });
});
