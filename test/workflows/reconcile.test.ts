import assert from 'node:assert/strict';
import { ApplicationFailure } from '@temporalio/common';
import { newId } from '../../adapters/ids.js';
import { operationLimits } from '../../domain/operations/limits.js';
import type { Comparison, ReconcileReport, ReconcileSource } from '../../domain/operations/reconcile.js';
import { reconcileWorkflow } from '../../workflows/contracts/reconcile.js';
import { together } from '../support/together.js';
import {
  closedGate,
  MockedWorkflows,
  type MockedRun,
  type Script,
} from '../support/workflows/mocked-activities.js';

/** Each test has a workflow of its own. */
const it = together();

const runId = 7;
const sources: ReconcileSource[] = ['charges', 'ledger', 'pods:lab'];
const agreeing: ReconcileReport = { runId, open: 0, acknowledged: 0, fresh: 0, notCompared: 0 };
const agrees = (): Promise<Comparison> => Promise.resolve({ found: 0, why: null });
const fails = (message: string): Promise<never> => Promise.reject(ApplicationFailure.nonRetryable(message));

describe('the workflow that compares the books', () => {
  let workflows: MockedWorkflows;
  before(async () => {
    workflows = await MockedWorkflows.start();
  });
  after(() => workflows.stop());

  /** What its activities answer where all of it agrees. */
  const script: Script = {
    beginReconcile: () => Promise.resolve({ runId, sources }),
    compareSource: agrees,
    noteUncompared: () => Promise.resolve(),
    finishReconcile: () => Promise.resolve(agreeing),
  };

  function begin(answers: Script = {}, input: object = { scope: 'window' }): Promise<MockedRun> {
    return workflows.begin(reconcileWorkflow.type, `reconcile-${newId('op')}`, input, {
      ...script,
      ...answers,
    });
  }

  const comparedBy = (run: MockedRun): unknown[] =>
    run.calls.filter(([name]) => name === 'compareSource').map(([, told]) => told);
  const sorted = (told: readonly unknown[]): string[] => told.map((one) => JSON.stringify(one)).toSorted();

  /** What operators read of it. */
  async function details(run: MockedRun): Promise<string> {
    const metadata = await run.handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
    return metadata.currentDetails;
  }

  it('compares each source of its run, with the limits that the service has, and answers the report', async () => {
    const run = await begin();
    assert.deepEqual(await run.result(), agreeing);
    assert.deepEqual(run.calls[0], ['beginReconcile', 'window']);
    const limits = {
      graceMs: operationLimits.reconcileGraceMs,
      confirmMs: operationLimits.reconcileConfirmMs,
    };
    const expected = sources.map((source) => ({ runId, source, scope: 'window', ...limits }));
    assert.deepEqual(sorted(comparedBy(run)), sorted(expected));
    assert.deepEqual(run.calls.slice(4), [['finishReconcile', runId, sources]]);
    assert.deepEqual(await run.attributes(), { EntityStatus: 'agrees' });
    assert.equal(
      await details(run),
      'Run 7, window. charges: 0 found; ledger: 0 found; pods:lab: 0 found. 0 open, 0 acknowledged.',
    );
  });

  it('hands on the scope and the limits that it was told', async () => {
    const told = { scope: 'full', graceMs: 0, confirmMs: 50 };
    const run = await begin({}, told);
    await run.result();
    assert.deepEqual(run.calls[0], ['beginReconcile', 'full']);
    const expected = sources.map((source) => ({ runId, source, ...told }));
    assert.deepEqual(sorted(comparedBy(run)), sorted(expected));
  });

  it('compares all sources at once, and sums up when the last one has ended', async () => {
    const gate = closedGate();
    const run = await begin({
      compareSource: async ({ source }) => {
        if (source === 'charges') await gate.opened;
        return agrees();
      },
    });
    await run.called('compareSource', sources.length);
    assert.ok(!run.names.includes('finishReconcile'));
    gate.open();
    await run.result();
    assert.equal(run.names.at(-1), 'finishReconcile');
  });

  it('notes a source whose comparison fails, with the reason, and goes on with the others', async () => {
    const report = { ...agreeing, notCompared: 1 };
    const run = await begin({
      compareSource: ({ source }) => (source === 'charges' ? fails('HTTP 500') : agrees()),
      finishReconcile: () => Promise.resolve(report),
    });
    assert.deepEqual(await run.result(), report);
    assert.equal(comparedBy(run).length, sources.length);
    const noted = run.calls.filter(([name]) => name === 'noteUncompared');
    const why = 'the comparison failed: ApplicationFailure: HTTP 500';
    assert.deepEqual(noted, [['noteUncompared', 'charges', why]]);
    assert.deepEqual(run.calls.at(-1), ['finishReconcile', runId, sources]);
    assert.deepEqual(await run.attributes(), { EntityStatus: 'gaps' });
    assert.match(await details(run), /charges: failed; ledger: 0 found/);
  });

  it('asks a source a few times before it counts as not compared', async () => {
    const failing = ApplicationFailure.create({ message: 'no answer', nextRetryDelay: '1ms' });
    const run = await begin({
      compareSource: ({ source }) => (source === 'ledger' ? Promise.reject(failing) : agrees()),
    });
    await run.result();
    assert.equal(comparedBy(run).length, sources.length - 1 + operationLimits.reconcileTries);
    assert.equal(run.names.filter((name) => name === 'noteUncompared').length, 1);
  });

  it('shows findings before gaps, and why a source was not compared as a whole', async () => {
    const report = { ...agreeing, open: 2, acknowledged: 1, fresh: 2, notCompared: 1 };
    const run = await begin({
      compareSource: ({ source }) =>
        Promise.resolve({ found: 2, why: source === 'pods:lab' ? 'its list is old' : null }),
      finishReconcile: () => Promise.resolve(report),
    });
    assert.deepEqual(await run.result(), report);
    assert.ok(!run.names.includes('noteUncompared'), 'its activity has noted that');
    assert.deepEqual(await run.attributes(), { EntityStatus: 'findings' });
    assert.equal(
      await details(run),
      'Run 7, window. charges: 2 found; ledger: 2 found; pods:lab: not compared (its list is old). 2 open, 1 acknowledged.',
    );
  });

  it('fails when its run can not begin, and compares nothing', async () => {
    const run = await begin({ beginReconcile: () => fails('the database is away') });
    await assert.rejects(run.result(), { name: 'WorkflowFailedError' });
    assert.deepEqual(run.names, ['beginReconcile']);
  });
});
