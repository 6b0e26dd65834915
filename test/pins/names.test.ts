import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { createActivities } from '../../activities/index.js';
import type { ActivityDeps } from '../../activities/deps.js';
import { taskQueues } from '../../domain/task-queues.js';
import { schemaSteps } from '../../migrations/steps.js';
import * as workflows from '../../workflows/index.js';
import { searchAttributes } from '../../workflows/contracts/search-attributes.js';
import { ensureSchedules } from '../../adapters/temporal/schedules.js';

/**
 * Names that outlive a deployment: open runs, written rows and objects at the processor carry them. Functions and files
 * may take better names, but a change of one of these breaks existing data. `PIN_NAMES=1 npx mocha
 * test/pins/names.test.ts` adds a new name, and its line in names.json is read in review. A name that goes needs a way
 * for whatever still carries it.
 */
const kept = new URL('names.json', import.meta.url);
const root = new URL('../..', import.meta.url).pathname;
const product = ['activities', 'adapters', 'api', 'domain', 'money', 'ops', 'worker', 'workflows'];

/** The product's sources, one text. */
function readSources(): string {
  const files = product.flatMap((folder) => {
    try {
      return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
        join(root, folder, name),
      );
    } catch {
      return [];
    }
  });
  return files
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(name, 'utf8'))
    .join('\n');
}

/** The first arguments of calls, each a literal or a constant of the product. */
function namesGivenTo(sources: string, callee: string): string[] {
  const calls = sources.matchAll(new RegExp(`\\b${callee}(?:<[^;\\n]*?>)?\\(\\s*('[^']+'|[\\w.]+)`, 'g'));
  const given = [...calls].map(([, argument = '']) => {
    if (argument.startsWith("'")) return argument.slice(1, -1);
    const value = new RegExp(`const ${argument} = '([^']+)'`).exec(sources)?.[1];
    assert.ok(value, `${callee}(${argument}): the constant is not found`);
    return value;
  });
  return sorted(given);
}

function sorted(names: Iterable<string>): string[] {
  return [...new Set(names)].sort();
}

async function scheduledNames(): Promise<string[]> {
  const ids: string[] = [];
  const create = ({ scheduleId, action }: { scheduleId: string; action: { workflowType: string } }) => {
    ids.push(`${scheduleId} starts ${action.workflowType}`);
    return Promise.resolve();
  };
  await ensureSchedules({ schedule: { create } } as unknown as Client);
  return sorted(ids);
}

/** Dependencies without an outside: the test reads only the names. */
const nothing = { settings: {}, providers: new Map(), processor: {}, mail: {} } as unknown as ActivityDeps;

async function collect(): Promise<Record<string, readonly string[]>> {
  const sources = readSources();
  return {
    workflows: sorted(Object.keys(workflows)),
    activities: sorted(Object.keys(createActivities(nothing))),
    signals: namesGivenTo(sources, 'defineSignal'),
    updates: namesGivenTo(sources, 'defineUpdate'),
    queries: namesGivenTo(sources, 'defineQuery'),
    patches: ['patched', 'deprecatePatch'].flatMap((callee) => namesGivenTo(sources, callee)),
    taskQueues: sorted(Object.values(taskQueues)),
    schedules: await scheduledNames(),
    searchAttributes: sorted(searchAttributes.map(({ name, type }) => `${name} ${type}`)),
    migrations: schemaSteps,
    // Causes of entries, invoices and mails, ids of workflows, keys of requests: a word, a colon, and an id.
    keys: sorted([...sources.matchAll(/`([a-z][a-z_-]*):\$\{/g)].map(([, word = '']) => word)),
  };
}

describe('names that outlive a deployment', () => {
  it('are those that are kept, each by its kind', async () => {
    const names = await collect();
    if (process.env['PIN_NAMES'] === '1') writeFileSync(kept, `${JSON.stringify(names, null, 2)}\n`);
    assert.deepEqual(names, JSON.parse(readFileSync(kept, 'utf8')));
  });
});
