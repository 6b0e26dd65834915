import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { bundleWorkflows } from '../../../worker/bundle.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const folder = join(root, 'node_modules', '.cache', 'gpu-rental-workflows');

/** All sources of the bundle: workflows import nothing else (npm run arrows). */
const sources = ['workflows', 'domain', 'worker/bundle.ts', 'package-lock.json'];

/**
 * Returns the workflows' code for the sandbox. Its making takes two seconds; it is kept from run to run while its
 * sources stay the same.
 */
export async function getKeptBundle(): Promise<WorkflowBundleWithSourceMap> {
  const file = join(folder, `${hashSources()}.json`);
  const kept = readKept(file);
  if (kept) return kept;
  const bundle = await bundleWorkflows();
  keep(file, bundle);
  return bundle;
}

function hashSources(): string {
  const hash = createHash('sha256').update(process.version);
  for (const source of sources) {
    for (const name of listFiles(source)) hash.update(`\0${name}\0`).update(readFileSync(join(root, name)));
  }
  return hash.digest('hex').slice(0, 32);
}

function listFiles(source: string): string[] {
  if (/\.\w+$/.test(source)) return [source];
  return readdirSync(join(root, source), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(source, name))
    .sort();
}

function readKept(file: string): WorkflowBundleWithSourceMap | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as WorkflowBundleWithSourceMap;
  } catch {
    return undefined;
  }
}

/** Writes the file whole or not at all, since others may be reading. Removes the files of former sources. */
function keep(file: string, bundle: WorkflowBundleWithSourceMap): void {
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(folder))
    if (name.endsWith('.json')) rmSync(join(folder, name), { force: true });
  const own = `${file}.${process.pid}`;
  writeFileSync(own, JSON.stringify(bundle));
  renameSync(own, file);
}
