import { sleep } from '@temporalio/activity';
import { areEventsWaiting, sequenceEvents } from '../../adapters/postgres/events/sequence.js';
import { eventLimits } from '../../domain/events/limits.js';
import { refuseWhenRestored } from '../ask-first.js';
import type { ActivityDeps } from '../deps.js';
import { ONE_CALL_MS, withHeartbeat } from '../heartbeat.js';

/** The sequencer: it numbers the events that transactions left in the outbox (decision 99, "One feed of events"). */
export function createEventActivities(deps: ActivityDeps) {
  return {
    /**
     * Numbers events for `forMs` and returns; its workflow starts it again. On a restored database it numbers nothing:
     * the numbers of the lost time are stepped over first.
     */
    async runSequencer(forMs: number): Promise<void> {
      await withHeartbeat(
        async (tell) => {
          const end = performance.now() + forMs;
          let sequenced = 0;
          while (performance.now() < end) {
            const moved = await sequenceOnce(deps);
            sequenced += moved;
            tell({ sequenced });
            // The pause, however short, lets a worker that is being shut down let go here.
            await sleep(moved < eventLimits.sequenceBatch ? eventLimits.sequenceEveryMs : 1);
          }
        },
        { stalledAfterMs: ONE_CALL_MS },
      );
    },
  };
}

async function sequenceOnce(deps: ActivityDeps): Promise<number> {
  if (!(await areEventsWaiting(deps.db))) return 0;
  await refuseWhenRestored(deps);
  return sequenceEvents(deps.db);
}
