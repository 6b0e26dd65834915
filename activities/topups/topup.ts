import type { TopupId } from '../../domain/ids.js';
import { endTopup } from '../../money/topups/topups.js';
import type { EventLook } from '../../workflows/contracts/events.js';
import type { ActivityDeps } from '../deps.js';
import { ONE_CALL_MS, withHeartbeat } from '../heartbeat.js';
import { answeringRefusals, tellingNothingDone } from '../refusals.js';
import { advanceTopup } from './advance.js';
import { openTopup, type OpenInput } from './open.js';

/** The activities of a top-up. The row is the state; the processor is asked what happened, never guessed. */
export function createTopupActivities(deps: ActivityDeps) {
  return {
    /**
     * Begins a top-up: charges the saved card, or opens a payment page. The row that the API committed says whose card
     * and how much (decision 88, "Rows before workflows").
     * @returns the top-up that answers the request: this one, or a charge of the same amount that was under way already
     * @throws ApplicationFailure with the code of a refusal
     */
    async openTopup(topupId: TopupId, open: OpenInput): Promise<{ topupId: TopupId }> {
      return withHeartbeat(
        () => answeringRefusals(() => tellingNothingDone(() => openTopup(deps, topupId, open))),
        { stalledAfterMs: ONE_CALL_MS },
      );
    },

    /** Reads from the processor what became of the payment and records it: credits once, or ends the top-up. */
    async lookAtTopup(topupId: TopupId): Promise<EventLook> {
      return advanceTopup(deps, topupId);
    },

    /** Ends a top-up that could not be begun in time, unless its page was asked for or its charge has left. */
    async abandonTopup(topupId: TopupId, error: string): Promise<void> {
      await endTopup(deps.db, topupId, { status: 'failed', error, onlyUnsent: true });
    },
  };
}
