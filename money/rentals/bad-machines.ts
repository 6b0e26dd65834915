import { recordNotice } from '../../adapters/postgres/operators/operator-notices.js';
import type { Transaction } from '../../adapters/postgres/database.js';
import { findClaim, recordBadMachine } from '../../adapters/postgres/machines/proofs.js';
import { badMachineMail } from '../../domain/mails/operators.js';
import { judgeClaim } from '../../domain/machines/claims.js';
import { judgeProof } from '../../domain/machines/proof.js';
import { endOfLost, type EndOfLost } from '../../domain/rentals/settlement.js';
import type { LockedWallet } from '../ledger/wallets.js';
import { lostFacts, writeLoss } from './lost.js';
import type { RentalWithStop } from './rentals.js';

/**
 * Ends and settles a rental whose running machine called itself bad, when nothing else ended it before (decision 175,
 * "Claims of machines"): it counts as lost at that moment. What it cost is given back where somebody beside its renter says
 * so; else operators are told. Each settling calls this first. The wallet and the rental must be locked by this
 * transaction.
 * @returns false when it said nothing bad, or something else ended it first
 */
export async function endWhenCalledBad(
  trx: Transaction,
  wallet: LockedWallet,
  rental: RentalWithStop,
): Promise<boolean> {
  const claim = await findClaim(trx, rental);
  if (claim === undefined || rental.running_at === null) return false;
  const facts = await lostFacts(trx, wallet, rental, claim.toldAt);
  // Only the upstream's own word gives a young machine back unasked.
  const end = endOfLost({ ...facts, neverAnswered: true });
  if (!end) return false;
  const rented = { model: rental.model, gpuCount: rental.gpu_count };
  const { faults } = judgeProof(claim.body, rented);
  const { isConfirmed, isRefunded } = judgeClaim({
    ...{ rented, listed: claim.listed, isKnownBad: claim.isKnownBad, hasPaid: claim.hasPaid },
    ranMs: end.endedAt.getTime() - rental.running_at.getTime(),
    fullRefundsToday: facts.fullRefundsToday,
  });
  await writeLoss(trx, wallet, rental, inWords(end, faults, isRefunded), claim.toldAt);
  await recordBadMachine(trx, {
    ...{ rentalId: rental.id, tag: rental.tag, faults: [...faults], confirmed: isConfirmed },
    outcome: isRefunded && end.kind !== 'unpaid' ? 'refunded' : 'billed',
  });
  if (isRefunded) return true;
  const { id: rentalId, user_id: userId, provider_code: provider } = rental;
  await recordNotice(trx, {
    cause: { kind: 'bad_machine', rentalId },
    message: badMachineMail({ rentalId, userId, provider, faults, isConfirmed }),
  });
  return true;
}

function inWords(end: EndOfLost, faults: readonly string[], isRefunded: boolean): EndOfLost {
  if (end.kind === 'unpaid') return end;
  const { endedAt } = end;
  const what = `The machine says that it is not what you rented. ${faults.join(' ')}`;
  return isRefunded
    ? { kind: 'refunded', endedAt, error: `${what} You were not charged for it.` }
    : {
        kind: 'billed',
        endedAt,
        isRefused: false,
        error: `${what} You were charged until then, and we look at it.`,
      };
}
