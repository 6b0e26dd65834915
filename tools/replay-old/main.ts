import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  bundleWorkflowCode,
  DefaultLogger,
  Runtime,
  Worker,
  type WorkflowBundleWithSourceMap,
} from '@temporalio/worker';
import { retiredTypes } from '../../workflows/contracts/index.js';
import { bundleWorkflows } from '../../worker/bundle.js';
import { takeOut } from '../releases/take-out.js';

/**
 * `npm run replay:old -- COMMIT`: whether an upgrade from that commit, and the way back to it, leave running workflows be.
 * Its workflows replay the histories that the present code has recorded, and the present ones replay its histories. Ends
 * with 1 where one of either goes another way, and names it.
 */
const commit = process.argv[2];
if (commit === undefined) throw new Error('Name a commit: npm run replay:old -- COMMIT');
const root = fileURLToPath(new URL('../..', import.meta.url));
const histories = join('test', 'replay', 'histories');
// Out of the project: the bundler takes what lies in node_modules for compiled.
const folder = mkdtempSync(join(tmpdir(), 'replay-old-'));
Runtime.install({
  logger: new DefaultLogger('ERROR', () => undefined),
  telemetryOptions: { logging: { filter: 'OFF', forward: {} } },
});
try {
  takeOut(commit, folder, ['workflows', 'domain', 'package.json', histories]);
  const [there, here] = [await bundleOf(folder), await bundleWorkflows()];
  const back = await replayAll('back', there, join(root, histories));
  const forth = await replayAll('forth', here, join(folder, histories));
  if (back + forth > 0) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit();

function bundleOf(place: string): Promise<WorkflowBundleWithSourceMap> {
  const summaries = join(place, 'workflows', 'activity-summaries.ts');
  return bundleWorkflowCode({
    workflowsPath: join(place, 'workflows', 'index.ts'),
    workflowInterceptorModules: existsSync(summaries) ? [summaries] : [],
    logger: new DefaultLogger('ERROR'),
  });
}

/** Recordings of releases before the last one, and of types that ended with it, are of runs that are not gone on with. */
function goesOn(file: string): boolean {
  return (
    !file.includes('.before-') && !(retiredTypes as readonly string[]).includes(file.split('.')[0] ?? '')
  );
}

/** @returns how many go another way */
async function replayAll(
  way: 'back' | 'forth',
  workflowBundle: WorkflowBundleWithSourceMap,
  from: string,
): Promise<number> {
  const files = readdirSync(from).filter((file) => file.endsWith('.json') && goesOn(file));
  let failed = 0;
  for (const file of files) {
    const history: unknown = JSON.parse(readFileSync(join(from, file), 'utf8'));
    const fault = await Worker.runReplayHistory({ workflowBundle }, history).then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
    );
    if (fault === undefined) continue;
    failed += 1;
    console.log(`${way}: ${file.replace(/\.json$/, '')}: ${fault.message}`);
  }
  console.log(`${way}: ${files.length - failed} of ${files.length} histories go the same way`);
  return failed;
}
