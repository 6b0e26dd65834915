import type { Account } from './account.js';
import type { Posting } from './wallet.js';
import type { World } from './world.js';

/** Posts money that comes into a wallet, and tells its user. */
export function credit(world: World, { user, wallet }: Account, posting: Posting): void {
  const before = wallet.entries.length;
  wallet.post(posting);
  const entry = wallet.entries.at(-1);
  if (!entry || wallet.entries.length === before) return;
  world.events.tell(user.id, 'wallet.credited', user.id, {
    amountCents: entry.amountCents,
    balanceCents: entry.balanceAfterCents,
    ledgerSeq: entry.seq,
    entryType: entry.type,
  });
}
