import { sleep } from '@temporalio/activity';
import { ledgerLimits } from '../../domain/ledger/limits.js';
import { operationLimits } from '../../domain/operations/limits.js';
import type { UpkeepDuty } from '../../domain/operations/upkeep.js';
import { isRestoredRefusal, refuseWhenRestored } from '../ask-first.js';
import type { ActivityDeps } from '../deps.js';
import { eachPart } from '../each-item.js';
import { SEVERAL_CALLS_MS, withHeartbeat, type Tell } from '../heartbeat.js';
import { sweep } from '../machines/sweep.js';
import { keepHouse, mailExpiredCards } from './housekeeping.js';
import { startLongLived } from './long-lived.js';
import { redeliver } from './redeliver.js';
import { countReliability } from './reliability.js';
import { revive } from './revive.js';
import { sealLedgers } from './sealing.js';

/**
 * The upkeep finds what a crash, a lost signal or a terminated run has left, and lets it go on. Each duty has a file.
 */
export function createUpkeepActivities(deps: ActivityDeps) {
  return {
    /**
     * Does one duty of the upkeep again and again for `forMs` and returns; its workflow starts it again. A round that
     * fails is counted, and the next one makes it good.
     */
    async runUpkeep(duty: UpkeepDuty, forMs: number): Promise<void> {
      const { everyMs } = upkeep[duty];
      await withHeartbeat(
        async (tell) => {
          const end = performance.now() + forMs;
          for (let rounds = 1; performance.now() < end; rounds += 1) {
            const started = performance.now();
            const done = await eachPart(deps, duty, () => runRound(deps, duty, tell).catch(waitWhenRestored));
            tell({ rounds, ...done });
            await sleep(Math.max(everyMs / 10, everyMs - (performance.now() - started)));
          }
        },
        { stalledAfterMs: SEVERAL_CALLS_MS },
      );
    },
  };
}

/**
 * Does one round of a duty.
 * @returns what it did, for the heartbeat
 * @throws ApplicationFailure `database_restored` where the duty must not act on a restored database
 */
export function runRound(deps: ActivityDeps, duty: UpkeepDuty, tell: Tell): Promise<object> {
  return upkeep[duty].round(deps, tell);
}

/** Answers for a round on a restored database: it waits for operators, and is not set aside for that. */
function waitWhenRestored(error: unknown): object {
  if (isRestoredRefusal(error)) return { waits: 'the database was restored' };
  throw error;
}

/** For each duty, how often its rounds come and what a round does. */
const upkeep: Readonly<
  Record<UpkeepDuty, { everyMs: number; round: (deps: ActivityDeps, tell: Tell) => Promise<object> }>
> = {
  redeliver: { everyMs: operationLimits.eventRedeliverMs, round: unlessRestored(redeliver) },
  revive: { everyMs: operationLimits.reviveEveryMs, round: unlessRestored(revive) },
  sweep: { everyMs: operationLimits.sweepEveryMs, round: unlessRestored(sweep) },
  housekeeping: {
    everyMs: operationLimits.housekeepingEveryMs,
    round: async (deps, tell) => {
      // The duty that starts the others is started again as well.
      await startLongLived(deps, tell);
      const kept = await keepHouse(deps, tell);
      return { ...kept, expiredCards: await mailExpiredCards(deps, tell) };
    },
  },
  reliability: { everyMs: operationLimits.reliabilityEveryMs, round: countReliability },
  sealing: { everyMs: ledgerLimits.sealEveryMs, round: unlessRestored(sealLedgers) },
};

function unlessRestored(round: (deps: ActivityDeps, tell: Tell) => Promise<object>) {
  return async (deps: ActivityDeps, tell: Tell): Promise<object> => {
    await refuseWhenRestored(deps);
    return round(deps, tell);
  };
}
