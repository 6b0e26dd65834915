import { answersOk } from '../../lab/servers/program.js';
import { findRunningStack } from '../../lab/stack/running.js';
import type { StackSettings } from '../../lab/stack/settings.js';
import { startStack, type Stack } from '../../lab/stack/start.js';
import type { StackUrls } from '../../lab/stack/urls.js';
import { waitFor } from './stage.js';

/** A stack for the story, started by anyone. */
export interface Host {
  readonly urls: StackUrls;
  /** The address of its dashboard; null without one. */
  readonly dashboardUrl: string | null;
  /** The stack when we must stop it; undefined when it ran before. */
  readonly own: Stack | undefined;
}

/** Finds the stack that runs on the data folder, or starts one. @throws Error saying what to do */
export async function findOrStartStack(
  settings: StackSettings,
  log: (line: string) => void,
  signal: AbortSignal,
): Promise<Host> {
  const running = await findRunningStack(settings.dataDir);
  if (!running) {
    log('No stack runs on this data: starting one, which is stopped at the end.');
    const own = await startStack({ settings, log, signal });
    return { urls: own.urls, dashboardUrl: own.dashboardUrl, own };
  }
  log(`A stack runs already (process ${running.pid}, API at ${running.urls.api}): playing on it.`);
  const wait = {
    what: 'answer from its /readyz',
    limitMs: running.ready ? 0 : 60_000,
    everyMs: 500,
    advice: 'Stop it (Ctrl-C in its terminal) and try again; its logs tell what it waits for.',
  };
  await waitFor({ signal }, wait, async () => {
    const now = await findRunningStack(settings.dataDir);
    return now?.ready === true ? true : undefined;
  });
  return { urls: running.urls, dashboardUrl: await findDashboard(running.urls.api), own: undefined };
}

/** Asks a stack of another process. */
async function findDashboard(api: string): Promise<string | null> {
  const url = `${api}/app`;
  return (await answersOk(url)) ? url : null;
}
