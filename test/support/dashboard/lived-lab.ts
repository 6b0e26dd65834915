import { liveThrough, livedMs, type LivedAccount } from '../../../lab/mock/lived/ada.js';
import { SteeredClock } from '../../../lab/mock/steered-clock.js';
import { DashboardLab } from './dashboard.js';

/** The dashboard over a mock in which one user has lived for weeks, up to the present. */
export interface LivedLab {
  readonly lab: DashboardLab;
  readonly lived: LivedAccount;
  stop(): Promise<void>;
}

/** @param folder the folder of a build of the test's own */
export async function startLivedLab(folder?: string): Promise<LivedLab> {
  const clock = new SteeredClock(Date.now() - livedMs);
  const lab = await DashboardLab.start({
    clock,
    ...(folder !== undefined && { dashboardFolder: folder }),
  });
  const lived = await liveThrough(lab.mock, clock);
  const halt = clock.letGo();
  return {
    lab,
    lived,
    async stop() {
      halt();
      await lab.stop();
    },
  };
}
