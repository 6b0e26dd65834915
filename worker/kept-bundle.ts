import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { hashOfFiles } from '../adapters/hash-of-files.js';

/** What a bundle is made of, and where it is kept. */
export interface BundleSources {
  readonly root: string;
  /** Files, and folders whose files count that end so; below the root. */
  readonly sources: readonly string[];
  readonly ending: string;
  /** What else it depends on, such as the versions of packages. */
  readonly versions: readonly string[];
  /** The folder of the kept bundle alone. */
  readonly folder: string;
}

/**
 * Returns the bundle that was made of these very sources, or makes it and keeps it for the next start. Where nothing
 * can be written each start makes its own.
 */
export async function keptBundle(
  of: BundleSources,
  make: () => Promise<WorkflowBundleWithSourceMap>,
): Promise<WorkflowBundleWithSourceMap> {
  const file = join(of.folder, `${nameOf(of)}.json`);
  const kept = readKept(file);
  if (kept) return kept;
  const bundle = await make();
  keep(of.folder, file, bundle);
  return bundle;
}

/** A name that changes with any byte of what is bundled. */
function nameOf({ root, sources, ending, versions }: BundleSources): string {
  return createHash('sha256')
    .update(JSON.stringify(versions))
    .update(hashOfFiles({ root, paths: sources, ending }))
    .digest('hex')
    .slice(0, 32);
}

function readKept(file: string): WorkflowBundleWithSourceMap | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as WorkflowBundleWithSourceMap;
  } catch {
    return undefined;
  }
}

/** Writes the file whole or not at all, since others may be reading, and removes those of former sources. */
function keep(folder: string, file: string, bundle: WorkflowBundleWithSourceMap): void {
  try {
    mkdirSync(folder, { recursive: true });
    for (const name of readdirSync(folder))
      if (name.endsWith('.json')) rmSync(join(folder, name), { force: true });
    const own = `${file}.${process.pid}`;
    writeFileSync(own, JSON.stringify(bundle));
    renameSync(own, file);
  } catch {
    // The bundle at hand is as good.
  }
}
