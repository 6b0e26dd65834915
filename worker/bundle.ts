import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, type WorkflowBundleWithSourceMap } from '@temporalio/worker';

/** Bundles the workflows for the sandbox: from the TypeScript sources, or from a build, whichever runs. */
export function bundleWorkflows(): Promise<WorkflowBundleWithSourceMap> {
  const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL(`../workflows/index.${ending}`, import.meta.url)),
    logger: { log: quiet, trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet },
  });
}

/** The bundler throws what matters; the rest is webpack's progress. */
const quiet = () => undefined;
