import { findRental } from '../../adapters/postgres/rentals/rental-reads.js';
import { readLedger, type LedgerEntry } from '../../adapters/postgres/wallets/ledger-reads.js';
import { ledgerEntryTypes, type LedgerEntryType } from '../../domain/ledger/ledger.js';
import { isId, type ApiKeyId, type RentalId, type UserId } from '../../domain/ids.js';
import { Refusal } from '../../domain/refusal.js';
import { refuseWhenCapped } from '../spending/capped.js';
import { callerOf, onlyOf, type ApiDeps, type ApiRouter } from '../context.js';
import { isNumberKey, pageOf, readCursor } from '../http/cursor.js';
import { requireCaller } from '../http/middleware/caller.js';
import type { Step } from '../http/middleware/session.js';
import { joi, pageFields, readQuery } from '../http/validation.js';

/** The route of a wallet's ledger, newest entry first (spec: GET /v1/billing/ledger). */
export function ledgerRoutes(router: ApiRouter, deps: ApiDeps): void {
  router.get('/v1/billing/ledger', requireCaller(deps, 'billing'), showLedger(deps));
}

interface LedgerQuery {
  readonly type?: LedgerEntryType;
  readonly rentalId?: string;
  readonly cursor?: string;
  readonly pageSize: number;
}

export const ledgerQuery = joi.object<LedgerQuery>({
  type: joi.string().valid(...ledgerEntryTypes),
  rentalId: joi
    .text()
    .maxChars(64)
    .meta({ jsonSchema: { 'x-id-prefix': 'rent' } }),
  ...pageFields,
});

function showLedger(deps: ApiDeps): Step {
  return async (ctx) => {
    const { type, rentalId, cursor, pageSize } = readQuery(ctx, ledgerQuery);
    const { userId } = callerOf(ctx);
    if (rentalId === undefined) refuseWhenCapped(ctx);
    const filter = {
      type,
      rentalId: await ownRental(deps, userId, rentalId, onlyOf(ctx)),
      beforeSeq: readCursor(cursor, isNumberKey)?.[0],
    };
    const ledger = await readLedger(deps.db, userId, filter, pageSize + 1);
    const { page, nextCursor } = pageOf(ledger.entries, pageSize, (entry) => [entry.seq]);
    ctx.body = { entries: page.map(presentEntry), balanceCents: ledger.balanceCents, nextCursor };
  };
}

async function ownRental(
  deps: ApiDeps,
  userId: UserId,
  id: string | undefined,
  key: ApiKeyId | undefined,
): Promise<RentalId | undefined> {
  if (id === undefined) return undefined;
  if (isId('rent', id) && (await findRental(deps.db, userId, id, key))) return id;
  throw new Refusal('rental_not_found', 'You have no such rental: GET /v1/rentals lists yours.');
}

/** A ledger entry on read. */
export function presentEntry(entry: LedgerEntry) {
  return {
    id: entry.id,
    type: entry.type,
    amountCents: entry.amountCents,
    balanceAfterCents: entry.balanceAfterCents,
    createdAt: entry.createdAt.toISOString(),
    ...(entry.rentalId !== null && { rentalId: entry.rentalId }),
    ...(entry.processorChargeId !== null && { processorChargeId: entry.processorChargeId }),
  };
}
