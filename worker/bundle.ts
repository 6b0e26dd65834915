import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, type WorkflowBundleWithSourceMap } from '@temporalio/worker';

/** Bundles the workflows for the sandbox, from the TypeScript sources or from a build, whichever runs. */
export function bundleWorkflows(): Promise<WorkflowBundleWithSourceMap> {
  const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const pathOf = (name: string): string =>
    fileURLToPath(new URL(`../workflows/${name}.${ending}`, import.meta.url));
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
