import assert from 'node:assert/strict';
import { ApplicationFailure } from '@temporalio/client';
import { newId } from '../../adapters/ids.js';
import type { TopupId } from '../../domain/ids.js';
import type { EventLook } from '../../workflows/contracts/events.js';
import { processorEventSignal } from '../../workflows/contracts/signals.js';
import { topupWorkflow } from '../../workflows/contracts/topup.js';
import { together } from '../support/together.js';
import {
  closedGate,
  inTurn,
  MockedWorkflows,
  failureOf,
  usingUpItsSchedule,
  type MockedRun,
  type Script,
} from '../support/workflows/mocked-activities.js';

/** Each test has a workflow of its own. */
const it = together();

const answerBefore = '2030-01-01T00:00:00.000Z';
const MINUTE = 60_000;

const waiting: EventLook = { state: 'waiting', status: 'processing', summary: 'the bank thinks' };
function closed(status: string): EventLook {
  return { state: 'closed', status, summary: status };
}
const declined = ApplicationFailure.create({
  type: 'card_declined',
  message: 'The bank declined the card.',
  nonRetryable: true,
  details: [{ declineCode: 'expired_card' }],
});

describe('the workflow of a top-up', () => {
  let workflows: MockedWorkflows;
  before(async () => {
    workflows = await MockedWorkflows.start();
  });
  after(() => workflows.stop());

  async function open(
    script: Script,
  ): Promise<{ run: MockedRun; answer: Promise<unknown>; topupId: TopupId }> {
    const topupId = newId('top');
    const input = { topupId, open: { answerBefore } };
    return { ...(await workflows.open(topupWorkflow.type, topupId, input, script)), topupId };
  }

  /** Takes up a top-up whose row exists. */
  async function takeUp(
    script: Script,
    askAfterMs?: number[],
  ): Promise<{ run: MockedRun; topupId: TopupId }> {
    const topupId = newId('top');
    const input = askAfterMs === undefined ? { topupId } : { topupId, askAfterMs };
    return { run: await workflows.begin(topupWorkflow.type, topupId, input, script), topupId };
  }

  describe('that is to be opened', () => {
    it('answers its caller as soon as the page is there, waits for the payment and credits it', async () => {
      const paid = closedGate();
      const topupId = newId('top');
      const script: Script = {
        openTopup: () => Promise.resolve({ topupId }),
        lookAtTopup: async () => {
          await paid.opened;
          return closed('succeeded');
        },
      };
      const input = { topupId, open: { answerBefore } };
      const { run, answer } = await workflows.open(topupWorkflow.type, topupId, input, script);
      assert.deepEqual(await answer, { topupId }, 'before it is paid');
      paid.open();
      assert.deepEqual(await run.result(), { outcome: 'succeeded' });
      assert.deepEqual(run.calls, [
        ['openTopup', topupId, { answerBefore }],
        ['lookAtTopup', topupId],
      ]);
      assert.deepEqual(await run.attributes(), { EntityStatus: 'succeeded' });
    });

    it('is joined to a charge that was under way, answers with that one, and looks at nothing', async () => {
      const other = newId('top');
      const { run, answer } = await open({ openTopup: () => Promise.resolve({ topupId: other }) });
      assert.deepEqual(await answer, { topupId: other });
      assert.deepEqual(await run.result(), { outcome: 'joined' });
      assert.deepEqual(run.names, ['openTopup']);
    });

    it('refused tells its caller why, ends what was begun with that sentence, and looks whether a charge has left', async () => {
      const { run, answer, topupId } = await open({
        openTopup: inTurn<never>(declined),
        abandonTopup: inTurn<undefined>(undefined),
        lookAtTopup: inTurn<EventLook>(closed('failed')),
      });
      const failure = await failureOf(answer);
      assert.equal(failure.type, 'card_declined');
      assert.deepEqual(failure.details, [{ declineCode: 'expired_card' }]);
      assert.deepEqual(await run.result(), { outcome: 'refused', code: 'card_declined' });
      assert.deepEqual(run.calls.slice(1), [
        ['abandonTopup', topupId, 'The bank declined the card.'],
        ['lookAtTopup', topupId],
      ]);
    });

    it('refused without a row that was begun ends as refused', async () => {
      const missing: EventLook = { state: 'missing', status: 'missing', summary: 'no such top-up' };
      const { run } = await open({
        openTopup: inTurn<never>(declined),
        abandonTopup: inTurn<undefined>(undefined),
        lookAtTopup: inTurn(missing),
      });
      assert.deepEqual(await run.result(), { outcome: 'refused', code: 'card_declined' });
    });

    it('refused because nobody could answer in time still gets the credit of a charge that had left', async () => {
      const { run, answer, topupId } = await open({
        openTopup: inTurn<never>(usingUpItsSchedule()),
        abandonTopup: inTurn<undefined>(undefined),
        lookAtTopup: inTurn(waiting, closed('succeeded')),
      });
      const failure = await failureOf(answer);
      assert.equal(failure.type, 'temporarily_unavailable');
      assert.deepEqual(await run.waits(1), [MINUTE]);
      await run.handle.signal(processorEventSignal);
      assert.deepEqual(await run.result(), { outcome: 'succeeded' });
      const [, abandoned] = run.calls;
      assert.deepEqual(abandoned, [
        'abandonTopup',
        topupId,
        'The service could not answer in time. Try again.',
      ]);
    });

    it('looks on though it could not be abandoned: its looks end one that was never begun', async () => {
      const { run } = await open({
        openTopup: inTurn<never>(declined),
        abandonTopup: inTurn<undefined>(usingUpItsSchedule()),
        lookAtTopup: inTurn(closed('failed')),
      });
      assert.deepEqual(await run.result(), { outcome: 'refused', code: 'card_declined' });
      assert.deepEqual(run.names, ['openTopup', 'abandonTopup', 'lookAtTopup']);
    });
  });

  describe('that is taken up from its row', () => {
    it('opens nothing, and answers whoever asks for its opening with its id', async () => {
      const looking = closedGate();
      const { run, topupId } = await takeUp({
        lookAtTopup: async () => {
          await looking.opened;
          return closed('succeeded');
        },
      });
      assert.deepEqual(await run.handle.executeUpdate('open'), { topupId });
      looking.open();
      assert.deepEqual(await run.result(), { outcome: 'succeeded' });
      assert.deepEqual(run.calls, [['lookAtTopup', topupId]]);
    });

    for (const [status, outcome] of [
      ['succeeded', 'succeeded'],
      ['expired', 'expired'],
      ['failed', 'failed'],
      ['canceled', 'failed'],
    ] as const) {
      it(`and is ${status} ends as ${outcome}`, async () => {
        const { run } = await takeUp({ lookAtTopup: inTurn(closed(status)) });
        assert.deepEqual(await run.result(), { outcome });
      });
    }

    it('and has no row ends as missing', async () => {
      const missing: EventLook = { state: 'missing', status: 'missing', summary: 'no such top-up' };
      const { run } = await takeUp({ lookAtTopup: inTurn(missing) });
      assert.deepEqual(await run.result(), { outcome: 'missing' });
    });

    it('asks the processor itself after 1, 5, 15 and 60 minutes, and then each hour', async () => {
      const looks = Array.from({ length: 6 }, () => waiting);
      const { run } = await takeUp({ lookAtTopup: inTurn(...looks, closed('expired')) });
      for (const waits of [1, 2, 3, 4, 5, 6]) {
        await run.waits(waits);
        await run.handle.signal(processorEventSignal);
      }
      assert.deepEqual(await run.result(), { outcome: 'expired' });
      const inMinutes = (await run.timers()).map((ms) => ms / MINUTE);
      assert.deepEqual(inMinutes, [1, 5, 15, 60, 60, 60]);
    });

    it('asks by itself when no event has come for as long as it was told to wait', async () => {
      const { run } = await takeUp({ lookAtTopup: inTurn(waiting, waiting, closed('expired')) }, [11, 12]);
      assert.deepEqual(await run.result(), { outcome: 'expired' });
      assert.deepEqual(await run.timers(), [11, 12]);
    });
  });
});
