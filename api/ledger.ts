import { readLedger, type LedgerEntry } from '../adapters/postgres/ledger-reads.js';
import { ledgerEntryTypes, type LedgerEntryType } from '../domain/ledger.js';
import { ledgerEntryId } from '../domain/ledger-ids.js';
import { sessionOf, type ApiDeps, type ApiRouter } from './context.js';
import { isNumberKey, pageOf, readCursor } from './cursor.js';
import { requireSession, type Step } from './middleware/session.js';
import { joi, pageFields, readQuery } from './validation.js';

/** Every change of a wallet, newest first (spec: GET /v1/billing/ledger). */
export function ledgerRoutes(router: ApiRouter, deps: ApiDeps): void {
  router.get('/v1/billing/ledger', requireSession(deps), showLedger(deps));
}

const ledgerQuery = joi.object<{ type?: LedgerEntryType; cursor?: string; pageSize: number }>({
  type: joi.string().valid(...ledgerEntryTypes),
  ...pageFields,
});

function showLedger(deps: ApiDeps): Step {
  return async (ctx) => {
    const { type, cursor, pageSize } = readQuery(ctx, ledgerQuery);
    const before = readCursor(cursor, isNumberKey)?.[0];
    const ledger = await readLedger(deps.db, sessionOf(ctx).userId, type, before, pageSize + 1);
    const { page, nextCursor } = pageOf(ledger.entries, pageSize, (entry) => [entry.seq]);
    ctx.body = { entries: page.map(presentEntry), balanceCents: ledger.balanceCents, nextCursor };
  };
}

function presentEntry(entry: LedgerEntry) {
  return {
    id: ledgerEntryId(entry.walletId, entry.seq),
    type: entry.type,
    amountCents: entry.amountCents,
    balanceAfterCents: entry.balanceAfterCents,
    createdAt: entry.createdAt.toISOString(),
    ...(entry.rentalId !== null && { rentalId: entry.rentalId }),
    ...(entry.processorChargeId !== null && { processorChargeId: entry.processorChargeId }),
  };
}
