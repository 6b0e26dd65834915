import { rmSync } from 'node:fs';
import { buildDashboardIfChanged, dashboardFolderOf, DashboardBuildError } from '../dashboard/build.js';
import { withProgress } from '../servers/progress.js';
import type { StackSettings } from './settings.js';
import { urlsOf } from './urls.js';

const limitMs = 5 * 60_000;

/** Whether the stack has a dashboard, and how it got it. */
export interface DashboardOutcome {
  readonly isBuilt: boolean;
  readonly words: string;
}

/**
 * Builds the dashboard when its sources have changed. A stack does without one: what a failed build left from before
 * would not fit the sources, so that the plain pages stand in.
 */
export async function prepareDashboard(
  settings: StackSettings,
  log: (line: string) => void,
  signal: AbortSignal,
): Promise<DashboardOutcome> {
  const { projectDir, env } = settings;
  try {
    const done = await withProgress({ what: 'building the dashboard', log, limitMs, signal }, (progress) =>
      buildDashboardIfChanged({ projectDir, env, signal: progress.signal }),
    );
    return { isBuilt: true, words: done === 'built' ? 'built' : 'as built before' };
  } catch (error) {
    if (signal.aborted) throw error;
    rmSync(dashboardFolderOf(projectDir), { recursive: true, force: true });
    const reason = error instanceof DashboardBuildError ? error.message : String(error);
    return { isBuilt: false, words: `none, plain pages stand in. ${reason}` };
  }
}

/** The address of the dashboard: the stack's own, or the one of DASHBOARD_URL. */
export function dashboardUrlOf(settings: StackSettings): string {
  return `${settings.dashboardUrl ?? urlsOf(settings).api}/app`;
}
