import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import type { WorkflowClient } from '@temporalio/client';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { newId } from '../../../adapters/ids.js';
import { readRentalRun, type RentalRun } from '../../../adapters/temporal/rental-history.js';

const begin = new Date(0);

describe('the history of a rental, as a restore reads it', () => {
  it('tells the first stop and the proof of the end, of runs of release 0.2 too', async () => {
    const run = await read('rental.stopped');
    assert.deepEqual(run, {
      isOpen: false,
      stoppedAt: new Date('2026-11-22T18:17:05.354Z'),
      endProvenAt: new Date('2026-11-22T18:17:05.219Z'),
      closedAt: new Date('2026-11-22T18:17:05.983Z'),
      end: null,
      limitAt: undefined,
    });
  });

  it('tells of an end that nobody pressed by its proof alone', async () => {
    const run = await read('rental.stopped-by-limit');
    assert.deepEqual([run?.stoppedAt, run?.isOpen], [null, false]);
    assert.ok(run!.endProvenAt! < run!.closedAt!, 'it is proven before the machine is gone');
  });

  it('is read from its newest event back to the backup, and no further', async () => {
    const run = await read('rental.stopped', { since: new Date('2026-11-22T18:17:05.300Z') });
    assert.deepEqual(run?.stoppedAt, new Date('2026-11-22T18:17:05.354Z'));
    assert.deepEqual(run.endProvenAt, new Date('2026-11-22T18:17:05.982Z'));
  });

  it('of a run that goes on tells no end', async () => {
    const run = await read('rental.stopped', { until: 'EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES' });
    assert.deepEqual(
      [run?.isOpen, run?.closedAt, run?.stoppedAt, run?.endProvenAt],
      [true, null, null, null],
    );
  });

  it('of a run that found no row, or was cut off, is no proof of an end', async () => {
    assert.equal(await read('rental.refused'), undefined);
    assert.equal(
      await read('rental.stopped', { until: 'EVENT_TYPE_ACTIVITY_TASK_STARTED', cut: true }),
      undefined,
    );
  });
});

interface Part {
  readonly since?: Date;
  /** The last event, by its type's first appearance. */
  readonly until?: string;
  /** Whether an operator terminated the run then. */
  readonly cut?: boolean;
}

/** Reads a recorded history through the client's own call, a few events a page. */
async function read(
  name: string,
  { since = begin, until, cut = false }: Part = {},
): Promise<RentalRun | undefined> {
  const text = await readFile(new URL(`../../replay/histories/${name}.json`, import.meta.url), 'utf8');
  const recorded = JSON.parse(text) as { events: { eventType: string }[] };
  const length = recorded.events.findIndex(({ eventType }) => eventType === until) + 1;
  const events = [...(historyFromJSON(recorded).events ?? [])].slice(0, length || undefined);
  if (cut) events.push({ ...events.at(-1), workflowExecutionTerminatedEventAttributes: {} });
  const newest = events.reverse();
  const page = ({ nextPageToken = new Uint8Array([0]) }: { nextPageToken?: Uint8Array }) => {
    const from = nextPageToken[0] ?? 0;
    const next = from + 5 < newest.length ? new Uint8Array([from + 5]) : new Uint8Array();
    return Promise.resolve({ history: { events: newest.slice(from, from + 5) }, nextPageToken: next });
  };
  const workflows = {
    options: { namespace: 'default' },
    workflowService: { getWorkflowExecutionHistoryReverse: page },
  } as unknown as WorkflowClient;
  return readRentalRun(workflows, newId('rent'), since);
}
