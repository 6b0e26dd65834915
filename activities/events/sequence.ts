import { areEventsWaiting, sequenceEvents } from '../../adapters/postgres/events/sequence.js';
import { eventLimits } from '../../domain/events/limits.js';
import { refuseWhenRestored } from '../ask-first.js';
import type { ActivityDeps } from '../deps.js';
import { inRounds, ONE_CALL_MS, type Tell } from '../heartbeat.js';

/** The sequencer: it numbers the events that transactions left in the outbox (decision 99, "One feed of events"). */
export function createEventActivities(deps: ActivityDeps) {
  return {
    /**
     * Numbers events for `forMs` and returns; its workflow starts it again. On a restored database it numbers nothing:
     * the numbers of the lost time are stepped over first.
     */
    async runSequencer(forMs: number): Promise<void> {
      let sequenced = 0;
      const round = async (tell: Tell): Promise<number> => {
        const moved = await sequenceOnce(deps);
        sequenced += moved;
        tell({ sequenced });
        return moved < eventLimits.sequenceBatch ? eventLimits.sequenceEveryMs : 1;
      };
      await inRounds(forMs, round, { stalledAfterMs: ONE_CALL_MS });
    },
  };
}

async function sequenceOnce(deps: ActivityDeps): Promise<number> {
  if (!(await areEventsWaiting(deps.db))) return 0;
  await refuseWhenRestored(deps);
  return sequenceEvents(deps.db);
}
