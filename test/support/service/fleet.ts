import { newId } from '../../../adapters/ids.js';
import { insertAttempt, moveAttempt } from '../../../adapters/postgres/machines/attempts.js';
import type { WalletRow } from '../../../adapters/postgres/rows/tables.js';
import type { ListingId, RentalId } from '../../../domain/ids.js';
import { requestOf } from '../../lab/provider/living-lab.js';
import type { TestService } from './living-service.js';
import { insertRunning, type NewRunning } from '../money/money.js';

/**
 * A rental that runs on a machine which the upstream really has and lists, made without the API: hundreds of them take
 * seconds. A rental whose machine is on no list takes the way of a lost one (decision 51, "Lost machines").
 */
export async function insertRunningOnMachine(
  service: Pick<TestService, 'db' | 'gpus'>,
  wallet: WalletRow,
  rental: Omit<NewRunning, 'id' | 'podId'>,
): Promise<RentalId> {
  const { db, gpus } = service;
  const id = newId('rent');
  const request = requestOf({ tag: `test-${id}-1` });
  const attempt = await insertAttempt(db, {
    rentalId: id,
    deployment: 'test',
    providerCode: gpus.provider.code,
    listingId: newId('lst') satisfies ListingId,
    offerId: request.offerId,
    pricePerHourCents: rental.priceCents,
    endBy: null,
    deadlineMs: 600_000,
  });
  const { podId } = await gpus.provider.allocate(request);
  await moveAttempt(db, attempt.id, 'open', 'adopted', { podId });
  return insertRunning(db, wallet, { ...rental, id, podId });
}
