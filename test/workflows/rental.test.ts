import assert from 'node:assert/strict';
import { ApplicationFailure } from '@temporalio/client';
import { newId } from '../../adapters/ids.js';
import type { RentalId } from '../../domain/ids.js';
import { meteringLimits } from '../../domain/metering/limits.js';
import { rentalLimits } from '../../domain/rentals/limits.js';
import { rentalWorkflow } from '../../workflows/contracts/rental.js';
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
import {
  done,
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

const answerBefore = '2030-01-01T00:00:00.000Z';

describe('the workflow of a rental', () => {
  let workflows: MockedWorkflows;
  before(async () => {
    workflows = await MockedWorkflows.start();
  });
  after(() => workflows.stop());

  async function open(
    script: Script,
  ): Promise<{ run: MockedRun; answer: Promise<unknown>; rentalId: RentalId }> {
    const rentalId = newId('rent');
    const input = { rentalId, open: { answerBefore }, durations };
    return { ...(await workflows.open(rentalWorkflow.type, rentalId, input, script)), rentalId };
  }

  describe('that is to be opened', () => {
    it('answers its caller with the rental as soon as it is open, and sees it through to its end', async () => {
      const provisioning = closedGate();
      const opened = { rentalId: newId('rent'), pricePerHourCents: 399, providerCode: 'lab' };
      const { run, answer, rentalId } = await open({
        openRental: () => Promise.resolve({ ...opened, look: look('await_pod') }),
        awaitPod: async () => {
          await provisioning.opened;
          return { kind: 'answered' };
        },
        startMetering: looks('running'),
        meterRental: () => Promise.resolve(round(0, 'ended')),
        settleRental: looks('end_pod'),
        endPods: done,
        closeRental: looks(look('closed', 'stopped')),
      });
      assert.deepEqual(await answer, opened, 'while its machine is still waited for');
      provisioning.open();

      assert.deepEqual(await run.result(), { outcome: 'stopped' });
      assert.deepEqual(run.calls, [
        ['openRental', { rentalId, open: { answerBefore } }],
        ['awaitPod', rentalId, durations.provisionDeadlineMs],
        ['startMetering', rentalId],
        ['meterRental', rentalId, durations.beltMs],
        ['settleRental', rentalId],
        ['endPods', rentalId],
        ['closeRental', rentalId],
      ]);
    });

    it('looks at the row after each step that a worker of an earlier release took, which tells no look', async () => {
      const silent = done as never;
      const opened = { rentalId: newId('rent'), pricePerHourCents: 399, providerCode: 'lab' };
      const { run, answer } = await open({
        openRental: () => Promise.resolve(opened),
        lookAtRental: looks('await_pod', 'running', 'running', 'ended', 'end_pod', 'closed'),
        awaitPod: () => Promise.resolve({ kind: 'answered' }),
        startMetering: silent,
        meterRental: inTurn({ nextLookMs: 1 }, { nextLookMs: 0 }) as never,
        settleRental: silent,
        endPods: done,
        closeRental: silent,
      });
      assert.deepEqual(await answer, opened);
      assert.deepEqual(await run.result(), { outcome: 'stopped' });
      assert.deepEqual(run.names, [
        ...['openRental', 'lookAtRental', 'awaitPod', 'startMetering', 'lookAtRental'],
        ...['meterRental', 'lookAtRental', 'meterRental', 'lookAtRental', 'settleRental', 'lookAtRental'],
        ...['endPods', 'closeRental', 'lookAtRental'],
      ]);
    });

    it('ends quietly with a refusal, which its caller gets with its code, its sentence and its facts', async () => {
      const refusal = ApplicationFailure.create({
        type: 'insufficient_balance',
        message: 'Top up the wallet first.',
        nonRetryable: true,
        details: [{ requiredCents: 399 }],
      });
      const { run, answer } = await open({ openRental: inTurn<never>(refusal) });
      const failure = await failureOf(answer);
      assert.equal(failure.type, 'insufficient_balance');
      assert.equal(failure.message, 'Top up the wallet first.');
      assert.deepEqual(failure.details, [{ requiredCents: 399 }]);
      assert.deepEqual(await run.result(), { outcome: 'refused', code: 'insufficient_balance' });
      assert.deepEqual(run.names, ['openRental'], 'there is no row to look at');
    });

    it('refuses as temporarily unavailable when its opening has used up its schedule', async () => {
      const { run, answer } = await open({ openRental: inTurn<never>(usingUpItsSchedule()) });
      const failure = await failureOf(answer);
      assert.equal(failure.type, 'temporarily_unavailable');
      assert.equal(failure.message, 'The service could not answer in time. Try again.');
      assert.deepEqual(await run.result(), { outcome: 'refused', code: 'temporarily_unavailable' });
      assert.deepEqual(run.names, ['openRental']);
    });

    it('tries an opening again that fails for another reason than a refusal', async () => {
      const opened = { rentalId: newId('rent'), pricePerHourCents: 399, providerCode: 'lab' };
      const { run, answer } = await open({
        openRental: inTurn<typeof opened>(new Error('the connection broke'), opened),
        lookAtRental: looks('missing'),
      });
      assert.deepEqual(await answer, opened);
      await run.result();
      assert.deepEqual(run.names, ['openRental', 'openRental', 'lookAtRental']);
    });
  });

  it('taken up from its row opens nothing, and answers whoever asks for its opening with its id', async () => {
    const looking = closedGate();
    const { run, rentalId } = await takeUp(workflows, {
      lookAtRental: looks('find_pod', look('closed', 'stopped')),
      findPod: async () => {
        await looking.opened;
        return null;
      },
    });
    assert.deepEqual(await run.handle.executeUpdate('open'), { rentalId });
    looking.open();
    assert.deepEqual(await run.result(), { outcome: 'stopped' });
    assert.ok(!run.names.includes('openRental'));
  });

  it('takes the limits of the product where it is told of no others', async () => {
    const rentalId = newId('rent');
    const script: Script = {
      lookAtRental: looks('find_pod', 'await_pod'),
      findPod: () => Promise.resolve(null),
      awaitPod: () => Promise.resolve({ kind: 'answered' }),
      startMetering: looks('running'),
      meterRental: () => Promise.resolve(round(never)),
    };
    const run = await workflows.begin(rentalWorkflow.type, rentalId, { rentalId }, script);
    await run.called('meterRental');
    await run.handle.terminate('seen');
    assert.deepEqual(
      run.calls.filter(([name]) => name !== 'lookAtRental'),
      [
        ['findPod', rentalId, rentalLimits.unknownFindMs],
        ['awaitPod', rentalId, rentalLimits.provisionDeadlineMs],
        ['startMetering', rentalId],
        ['meterRental', rentalId, meteringLimits.beltMs],
      ],
    );
  });

  it('without a row ends, and does nothing', async () => {
    const { run } = await takeUp(workflows, { lookAtRental: looks('missing') });
    assert.deepEqual(await run.result(), { outcome: 'missing' });
    assert.deepEqual(run.names, ['lookAtRental']);
  });

  it('that is closed with a failure says so', async () => {
    const { run } = await takeUp(workflows, { lookAtRental: looks(look('closed', 'failed')) });
    assert.deepEqual(await run.result(), { outcome: 'failed' });
  });

  it('shows operators what its row says, to filter by', async () => {
    const { run } = await takeUp(workflows, { lookAtRental: looks(look('closed', 'stopped')) });
    await run.result();
    assert.deepEqual(await run.attributes(), {
      EntityStatus: 'stopped',
      UserId: 'usr_1',
      Provider: 'lab',
      PricePerHourCents: 399,
    });
  });

  describe('whose machine is not known yet', () => {
    it('looks for it for as long as it is told to, and goes on once it is found', async () => {
      const { run, rentalId } = await takeUp(workflows, {
        lookAtRental: looks('find_pod', 'closed'),
        findPod: () => Promise.resolve(null),
      });
      assert.deepEqual(await run.result(), { outcome: 'stopped' });
      assert.deepEqual(run.calls, [
        ['lookAtRental', rentalId],
        ['findPod', rentalId, durations.unknownFindMs],
        ['lookAtRental', rentalId],
      ]);
    });

    for (const [ending, outcome, error] of [
      ['no machine was found', { kind: 'failed', error: 'nothing on offer' }, 'nothing on offer'],
      ['it was stopped meanwhile', { kind: 'stopped' }, null],
    ] as const) {
      it(`gives up when ${ending}, and says why`, async () => {
        const { run, rentalId } = await takeUp(workflows, {
          lookAtRental: looks('find_pod'),
          findPod: () => Promise.resolve(outcome),
          giveUpProvisioning: looks('closed'),
        });
        await run.result();
        assert.deepEqual(run.calls.slice(2), [['giveUpProvisioning', rentalId, error]]);
      });
    }
  });

  describe('whose machine does not answer yet', () => {
    it('looks for another one where that one was bad, and gives nothing up', async () => {
      const left = { kind: 'failed', error: 'The machine is not what you rented.', isLeft: true } as const;
      const { run } = await takeUp(workflows, {
        lookAtRental: looks('await_pod', 'find_pod', 'closed'),
        awaitPod: () => Promise.resolve(left),
        findPod: () => Promise.resolve(null),
      });
      assert.deepEqual(await run.result(), { outcome: 'stopped' });
      assert.deepEqual(run.names, ['lookAtRental', 'awaitPod', 'lookAtRental', 'findPod', 'lookAtRental']);
    });

    for (const [ending, outcome, error] of [
      ['the machine failed', { kind: 'failed', error: 'The upstream lost it.' }, 'The upstream lost it.'],
      ['it was stopped meanwhile', { kind: 'stopped' }, null],
    ] as const) {
      it(`gives up when ${ending}, charges nothing and ends the machine`, async () => {
        const { run, rentalId } = await takeUp(workflows, {
          lookAtRental: looks('await_pod'),
          awaitPod: () => Promise.resolve(outcome),
          giveUpProvisioning: looks('end_pod'),
          endPods: done,
          closeRental: looks(look('closed', 'failed')),
        });
        assert.deepEqual(await run.result(), { outcome: 'failed' });
        assert.deepEqual(run.calls.slice(2), [
          ['giveUpProvisioning', rentalId, error],
          ['endPods', rentalId],
          ['closeRental', rentalId],
        ]);
      });
    }

    it('answers whoever stops it once it is settled, before its machine is gone', async () => {
      const provisioning = closedGate();
      const ending = closedGate();
      const row = new ScriptedRow('await_pod');
      const { run, rentalId } = await takeUp(workflows, {
        ...row.script,
        awaitPod: async () => {
          await provisioning.opened;
          return { kind: 'stopped' };
        },
        endPods: () => ending.opened,
      });
      await run.called('awaitPod');
      const stopped = stop(run);
      provisioning.open();
      await stopped;
      assert.deepEqual(run.calls[2], ['giveUpProvisioning', rentalId, null]);
      assert.ok(!run.names.includes('closeRental'), 'its machine is not gone yet');
      ending.open();
      assert.deepEqual(await run.result(), { outcome: 'stopped' });
    });
  });
});
