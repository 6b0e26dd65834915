import { changeRental, type ToldChange } from '../../money/rentals/change.js';
import type { ActivityDeps } from '../deps.js';
import { ONE_CALL_MS, withHeartbeat } from '../heartbeat.js';
import { laterWhenBusy } from '../metering/busy-wallet.js';
import { answeringRefusals, tellingNothingDone } from '../refusals.js';

/**
 * Changes a rental's limits (money/rentals/change.ts), and comes again later while somebody else holds the wallet. It
 * answers again what it answered before.
 * @throws ApplicationFailure with the code of a refusal, which changed nothing
 */
export function createChangeRental({ db }: ActivityDeps) {
  return (told: ToldChange): Promise<void> =>
    withHeartbeat(() => answeringRefusals(() => tellingNothingDone(() => changeOnce(db, told))), {
      stalledAfterMs: ONE_CALL_MS,
    });
}

async function changeOnce(db: ActivityDeps['db'], told: ToldChange): Promise<void> {
  const refusal = await laterWhenBusy(() => changeRental(db, told));
  if (refusal) throw refusal;
}
