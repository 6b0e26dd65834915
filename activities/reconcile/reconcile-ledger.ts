import { isDatabaseAway } from '../../adapters/postgres/availability.js';
import type { Database } from '../../adapters/postgres/database.js';
import {
  listRootsWithFindings,
  listUsersWithLedgerFindings,
} from '../../adapters/postgres/reconcile/findings.js';
import { discrepancyLimit, type Discrepancy } from '../../adapters/postgres/ledger/verify-rules.js';
import {
  verifyLedger,
  verifyRecent,
  verifyWallets,
  walletRanges,
} from '../../adapters/postgres/ledger/verify.js';
import { verifyRoots, type RootFault } from '../../adapters/postgres/ledger/verify-roots.js';
import { ledgerEntryId } from '../../domain/ledger/ledger-ids.js';
import type { Finding, FindingKind, ReconcileScope } from '../../domain/operations/reconcile.js';
import type { ActivityDeps } from '../deps.js';
import type { Gathered, Look } from './reconcile-processor.js';

const kinds: Record<Discrepancy['rule'], FindingKind> = {
  chain: 'chain_broken',
  wallet: 'wallet_differs',
  holds: 'holds_differ',
  cap: 'cap_differs',
  rental: 'rental_entries_differ',
  price: 'net_charge_differs',
  order: 'order_refund_differs',
};

/**
 * Checks the ledger against itself. A full run walks every wallet's chain and the roots of its proof; a run over a window
 * checks all sums, the rentals that were settled in it, and the wallets and roots that still have a finding.
 */
export async function gatherLedger(
  { db }: ActivityDeps,
  look: Look,
  scope: ReconcileScope,
): Promise<Gathered> {
  const walk = new Walk(look);
  await (scope === 'full' ? walkAll(db, walk) : walkRecent(db, walk));
  const suspects = await listRootsWithFindings(db);
  const hasRootFaults =
    (scope === 'full' || suspects.length > 0) && (await checkRoots(db, look, suspects)).length > 0;
  return {
    // A second look goes only where the first one found something.
    compare: async () => [
      ...(await recheck(db, walk)).map(findingOf),
      ...(hasRootFaults ? await checkRoots(db, look, suspects) : []).map(findingOfRoot),
    ],
    why: walk.isCutShort
      ? `it stopped at ${discrepancyLimit} discrepancies: fix those, then check for more`
      : null,
  };
}

/** A walk over the wallets, with the findings so far. */
class Walk {
  readonly found: Discrepancy[] = [];
  isCutShort = false;

  constructor(readonly look: Look) {}

  add(found: readonly Discrepancy[], where: object): void {
    this.found.push(...found);
    this.isCutShort ||= found.length >= discrepancyLimit;
    this.tell(where);
  }

  tell(where: object): void {
    this.look.tell({ ...where, found: this.found.length });
  }
}

async function walkAll(db: Database, walk: Walk): Promise<void> {
  for await (const { fromId, toId } of walletRanges(db)) {
    if (walk.isCutShort) return;
    await walkRange(db, walk, fromId, toId);
  }
}

/** Walks a range of wallets. A range that can't be read is read by halves, until the unreadable wallet is alone. */
async function walkRange(db: Database, walk: Walk, fromId: number, toId: number): Promise<void> {
  try {
    const found = await verifyWallets(
      db,
      { fromId, toId },
      { tell: () => walk.tell({ walletsBefore: fromId }) },
    );
    walk.add(found, { walletsUpTo: toId });
  } catch (error) {
    if (isDatabaseAway(error)) throw error;
    walk.tell({ unreadable: [fromId, toId] });
    if (fromId === toId) {
      walk.look.unread.record(`wallet:${fromId}`, error);
      return;
    }
    const middle = Math.floor((fromId + toId) / 2);
    await walkRange(db, walk, fromId, middle);
    await walkRange(db, walk, middle + 1, toId);
  }
}

async function walkRecent(db: Database, walk: Walk): Promise<void> {
  const { from, unread } = walk.look;
  try {
    walk.add(await verifyRecent(db, from), { since: from });
  } catch (error) {
    if (isDatabaseAway(error)) throw error;
    // One statement reads all of them: only the slow way tells which of them it is.
    return walkAll(db, walk);
  }
  for (const user of await listUsersWithLedgerFindings(db)) {
    walk.add((await unread.unlessItFails(user, () => verifyLedger(db, user))) ?? [], { user });
  }
}

async function recheck(db: Database, { found, look }: Walk): Promise<Discrepancy[]> {
  const again: Discrepancy[] = [];
  for (const userId of new Set(found.map((one) => one.userId))) {
    again.push(...((await look.unread.unlessItFails(userId, () => verifyLedger(db, userId))) ?? []));
  }
  return again;
}

async function checkRoots(
  db: Database,
  { tell, unread }: Look,
  suspects: readonly number[],
): Promise<RootFault[]> {
  const check = () => verifyRoots(db, suspects, (built) => tell({ rootBuilt: built }));
  return (await unread.unlessItFails('roots', check)) ?? [];
}

function findingOfRoot({ root, detail }: RootFault): Finding {
  return {
    kind: 'root_broken',
    subject: `root:${root}`,
    subjectIds: { root },
    evidence: { detail },
  };
}

function findingOf({ rule, walletId, userId, seq, rentalId, detail }: Discrepancy): Finding {
  const entry = seq === null ? null : ledgerEntryId(walletId, seq);
  return {
    kind: kinds[rule],
    subject: entry ?? rentalId ?? `wallet:${walletId}`,
    subjectIds: { userId, walletId, ...(rentalId === null ? {} : { rentalId }) },
    evidence: { rule, detail },
  };
}
