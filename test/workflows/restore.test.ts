import assert from 'node:assert/strict';
import { ApplicationFailure } from '@temporalio/client';
import { newId } from '../../adapters/ids.js';
import type { Activities } from '../../activities/index.js';
import type { RestoreReport } from '../../domain/operations/restore.js';
import {
  restoreWorkflow,
  type RestoreInput,
  type RestoreOutcome,
} from '../../workflows/contracts/restore.js';
import { together } from '../support/together.js';
import {
  inTurn,
  MockedWorkflows,
  type MockedRun,
  type Script,
} from '../support/workflows/mocked-activities.js';

/** Each test has a workflow of its own. */
const it = together();

const rentalId = newId('rent');
const runId = 'the-run';
const report: RestoreReport = {
  runId,
  database: 'restored',
  watermark: 40,
  raisedAt: '2030-01-01T00:00:00.000Z',
  keptInTemporal: 60,
  lostMinutes: 20,
  ended: [{ rentalId, status: 'running', endedAt: '2030-01-01T00:10:00.000Z' }],
  limits: [{ rentalId, here: null, there: '2030-01-02T00:00:00.000Z', isLowered: true }],
  goingOn: 1,
  withoutRun: [],
  lost: [],
  unknownPods: [
    { providerCode: 'lab', podId: 'pod-1', tag: 'tag-1', status: 'active', pricePerHourCents: 1 },
  ],
  silentUpstreams: [],
  missingPayments: [{ paymentId: 'pi_1', amountCents: 500, currency: 'usd', userId: null, topupId: null }],
};

type Rebuilt = Awaited<ReturnType<Activities['rebuildPayments']>>;
const rebuilt: Rebuilt = {
  credited: [{ paymentId: 'pi_1', amountCents: 500 }],
  parked: ['pi_2'],
  undone: [],
};
const done = { endedRentals: 1, credited: rebuilt.credited, parked: rebuilt.parked, listedPods: 1 };

/** The answers of a restore without failures. */
const well = {
  examineRestore: () => Promise.resolve(report),
  endClosedRentals: () => Promise.resolve({ ended: 1, undone: [] as string[] }),
  rebuildPayments: () => Promise.resolve(rebuilt),
  resumeAfterRestore: () => Promise.resolve(61),
} satisfies Script;

describe('the workflow that reconciles a restored database', () => {
  let workflows: MockedWorkflows;
  before(async () => {
    workflows = await MockedWorkflows.start();
  });
  after(() => workflows.stop());

  const order = { operationId: newId('op'), withoutSilentUpstreams: false };

  async function restore(
    script: Script,
    reconcile?: RestoreInput['reconcile'],
  ): Promise<{ run: MockedRun; outcome: RestoreOutcome }> {
    const input = reconcile === undefined ? {} : { reconcile };
    const run = await workflows.begin(restoreWorkflow.type, `restore:${newId('op')}`, input, script);
    return { run, outcome: (await run.result()) as RestoreOutcome };
  }

  it('only looks when nothing is ordered', async () => {
    const { run, outcome } = await restore({ examineRestore: well.examineRestore });
    assert.deepEqual(outcome, { outcome: 'looked', report });
    assert.deepEqual(run.calls, [['examineRestore', { inRows: true }]]);
  });

  it('does nothing to a database that is confirmed', async () => {
    const confirmed: RestoreReport = { ...report, database: 'confirmed' };
    const { run, outcome } = await restore({ examineRestore: () => Promise.resolve(confirmed) }, order);
    assert.deepEqual(outcome, { outcome: 'nothing to do', report: confirmed });
    assert.deepEqual(run.names, ['examineRestore']);
  });

  it('ends rentals, then rebuilds payments, and lets metering resume last', async () => {
    const { run, outcome } = await restore(well, order);
    assert.deepEqual(run.calls, [
      ['examineRestore', { inRows: true }],
      ['endClosedRentals', runId, order.operationId],
      ['rebuildPayments', { raisedAt: report.raisedAt, runId }],
      ['resumeAfterRestore', order, report, done],
    ]);
    assert.deepEqual(outcome, { outcome: 'reconciled', report, reconciled: { ...done, watermark: 61 } });
  });

  describe('while an upstream is silent', () => {
    const silent: RestoreReport = { ...report, silentUpstreams: ['lab'] };
    const script: Script = { ...well, examineRestore: () => Promise.resolve(silent) };

    it('refuses, says which one, and touches nothing', async () => {
      const { run, outcome } = await restore(script, order);
      assert.equal(outcome.outcome, 'refused');
      assert.match(outcome.message ?? '', /^No answer from lab: .*--without-silent-upstreams/);
      assert.deepEqual(run.names, ['examineRestore']);
    });

    it('goes on when the operator said so', async () => {
      const { outcome } = await restore(script, { ...order, withoutSilentUpstreams: true });
      assert.equal(outcome.outcome, 'reconciled');
    });
  });

  it('refuses with the sentence of its activity when there is no such order, and rebuilds nothing', async () => {
    const refusal = ApplicationFailure.nonRetryable('The order was rejected.', 'rejected');
    const { run, outcome } = await restore({ ...well, endClosedRentals: inTurn<never>(refusal) }, order);
    assert.deepEqual(outcome, { outcome: 'refused', message: 'The order was rejected.', report });
    assert.deepEqual(run.names, ['examineRestore', 'endClosedRentals']);
  });

  describe('of which something could not be done', () => {
    const script: Script = {
      ...well,
      endClosedRentals: () => Promise.resolve({ ended: 0, undone: ['rent_1: it is locked'] }),
      rebuildPayments: () => Promise.resolve({ ...rebuilt, undone: ['pi_3: no answer'] }),
    };
    const undone = ['rent_1: it is locked', 'pi_3: no answer'];

    it('names all of it, and does not let the service go on', async () => {
      const { run, outcome } = await restore(script, order);
      assert.equal(outcome.outcome, 'incomplete');
      assert.deepEqual(outcome.undone, undone);
      assert.match(outcome.message ?? '', /^2 could not be done, .*rent_1: it is locked, pi_3: no answer\./);
      assert.deepEqual(run.names, ['examineRestore', 'endClosedRentals', 'rebuildPayments']);
    });

    it('lets it go on when the operator said to leave it undone, and keeps what was left', async () => {
      const { run, outcome } = await restore(script, { ...order, leaveUndone: true });
      const left = { ...done, endedRentals: 0, undone };
      assert.deepEqual(outcome.reconciled, { ...left, watermark: 61 });
      assert.deepEqual(run.calls.at(-1), [
        'resumeAfterRestore',
        { ...order, leaveUndone: true },
        report,
        left,
      ]);
    });
  });

  it('tells the items themselves in a run that an earlier release began, which has no rows', async () => {
    const { runId: _none, ...told } = report;
    const { run } = await restore({ ...well, examineRestore: () => Promise.resolve(told) }, order);
    const { raisedAt, missingPayments, ended, limits } = report;
    assert.deepEqual(run.calls.slice(1), [
      ['endClosedRentals', ended, order.operationId, limits],
      ['rebuildPayments', { raisedAt, missingPayments }],
      ['resumeAfterRestore', order, told, done],
    ]);
  });

  it('counts what the lists of a large restore do not name', async () => {
    const more = { credited: 3, creditedCents: 900, parked: 1 };
    const { outcome } = await restore(
      {
        ...well,
        examineRestore: () => Promise.resolve({ ...report, more: { unknownPods: 41 } }),
        rebuildPayments: () => Promise.resolve({ ...rebuilt, more }),
      },
      order,
    );
    assert.deepEqual(outcome.reconciled, { ...done, more, listedPods: 42, watermark: 61 });
  });

  it('takes the answers of release 0.1, which knew of nothing undone', async () => {
    const { outcome } = await restore(
      {
        ...well,
        endClosedRentals: () => Promise.resolve(1 as unknown as { ended: number; undone: string[] }),
        rebuildPayments: () => Promise.resolve({ credited: [], parked: [] } as unknown as Rebuilt),
      },
      order,
    );
    const nothing = { endedRentals: 1, credited: [], parked: [], listedPods: 1 };
    assert.deepEqual(outcome.reconciled, { ...nothing, watermark: 61 });
  });
});
