import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, type WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { keptBundle } from './kept-bundle.js';

/** The TypeScript sources run, or their build. */
const ending = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
const root = fileURLToPath(new URL('..', import.meta.url));
const cache = join(root, 'node_modules', '.cache', 'gpu-rental-workflows');
const packages = ['@temporalio/worker', '@temporalio/workflow', '@temporalio/common'];

/**
 * Bundles the workflows for the sandbox, which takes seconds, once for the same sources. `npm run build` leaves the
 * bundle beside the build, so that a container need not write.
 */
export function bundleWorkflows(): Promise<WorkflowBundleWithSourceMap> {
  const require = createRequire(import.meta.url);
  const versionOf = (name: string): string =>
    (require(`${name}/package.json`) as { readonly version: string }).version;
  return keptBundle(
    {
      root,
      // Workflows import nothing else (npm run arrows).
      sources: ['workflows', 'domain', `worker/bundle${ending}`],
      ending,
      versions: [process.version, ...packages.map(versionOf)],
      folder: ending === '.ts' ? cache : join(root, 'workflow-bundle'),
    },
    makeBundle,
  );
}

function makeBundle(): Promise<WorkflowBundleWithSourceMap> {
  const pathOf = (name: string): string => join(root, 'workflows', `${name}${ending}`);
  return bundleWorkflowCode({
    workflowsPath: pathOf('index'),
    workflowInterceptorModules: [pathOf('activity-summaries')],
    logger: {
      log: quiet,
      trace: quiet,
      debug: quiet,
      info: quiet,
      warn: quiet,
      error: quiet,
    },
  });
}

/** The bundler throws its faults; the rest is webpack's progress. */
const quiet = () => undefined;
