import { ledgerQuery, csvQuery, statementQuery, type StatementQuery } from '../../../api/wallet/describe.js';
import type { LedgerEntry } from '../../../adapters/postgres/ledger/ledger-reads.js';
import type { Statement, StatementSum } from '../../../adapters/postgres/ledger/statement-reads.js';
import { presentBalance, presentConfig } from '../../../api/wallet/billing.js';
import { refuseWhenCapped } from '../../../api/spending/capped.js';
import { onlyOf, type ApiRouter } from '../../../api/context.js';
import { isNumberKey, pageOf, readCursor } from '../../../api/http/cursor.js';
import { presentLedger } from '../../../api/wallet/ledger.js';
import { proofQuery, rootsQuery } from '../../../api/wallet/describe-proof.js';
import { spendingQuery } from '../../../api/wallet/describe-spending.js';
import { presentSpending, refuseWrongDays } from '../../../api/wallet/spending.js';
import { proofNotReady } from '../../../api/wallet/proof.js';
import { presentStanding } from '../../../api/wallet/standing.js';
import { presentStatement, refuseUnordered, sendLedgerFile } from '../../../api/wallet/statement.js';
import { noSuchEntry, presentExplanation } from '../../../api/wallet/explanation-shapes.js';
import { readQuery } from '../../../api/http/validation.js';
import type { RentalId } from '../../../domain/ids.js';
import { ledgerEntryTypes } from '../../../domain/ledger/ledger.js';
import { explainEntry } from '../explain.js';
import { readDebt } from '../invoices.js';
import { readBurn } from '../burn.js';
import { refusalByCode } from '../refuse.js';
import { readSpending } from '../spending-by-day.js';
import { signedIn } from '../signed-in.js';
import type { World } from '../world.js';

export const mockPublishableKey = 'pk_test_mock';
export const mockSupportContact = 'support@example.com';

/** What is told of an account besides its money. The mock blocks nobody, and takes nothing back. */
function accountRoutes(router: ApiRouter, world: World): void {
  router.get(
    '/v1/billing/config',
    signedIn(world, (ctx) => {
      ctx.body = presentConfig(mockPublishableKey, mockSupportContact);
    }),
  );
  router.get(
    '/v1/billing/standing',
    signedIn(world, (ctx) => {
      ctx.body = presentStanding({ blockedReason: null, chargesHeld: false, reversals: [] });
    }),
  );
}

/** The wallet's balance and its whole history. */
export function walletRoutes(router: ApiRouter, world: World): void {
  router.get(
    '/v1/billing/balance',
    signedIn(world, (ctx, account) => {
      const { availableCents, reservedCents } = account.wallet;
      const balance = { availableCents, reservedCents, ...readDebt(account), ...readBurn(account) };
      ctx.body = presentBalance({ ...balance, readAt: world.now() });
    }),
  );
  accountRoutes(router, world);
  router.get('/v1/billing/ledger', showLedger(world));
  router.get(
    '/v1/billing/ledger/:id/explain',
    signedIn(world, (ctx, account) => {
      const explanation = explainEntry(account, ctx.params['id'] ?? '');
      const key = onlyOf(ctx);
      const rentalId = explanation?.entry.rentalId;
      const isOwn = account.rentals.some(({ row }) => row.id === rentalId && row.api_key_id === key);
      if (!explanation || (key !== undefined && !isOwn)) throw noSuchEntry();
      ctx.body = presentExplanation(explanation);
    }),
  );
  router.get(
    '/v1/billing/statement',
    signedIn(world, (ctx, { wallet, rentals }) => {
      const query = readQuery(ctx, statementQuery);
      refuseUnordered(query.from, query.to);
      const labels = new Map(rentals.map(({ row }) => [row.id, row.labels?.[query.groupBy ?? '']]));
      const labelOf = (rentalId: RentalId | null) =>
        rentalId === null ? null : (labels.get(rentalId) ?? null);
      ctx.body = presentStatement(query, statementOf(wallet.entries, query, labelOf));
    }),
  );
  router.get(
    '/v1/billing/spending',
    signedIn(world, (ctx, account) => {
      const query = readQuery(ctx, spendingQuery);
      refuseWrongDays(query);
      ctx.body = presentSpending(query, readSpending(account, query));
    }),
  );
  router.get(
    '/v1/billing/ledger.csv',
    signedIn(world, (ctx, { wallet }) => {
      const { from, to } = readQuery(ctx, csvQuery);
      refuseUnordered(from, to);
      sendLedgerFile(ctx, [between(wallet.entries, from, to)]);
    }),
  );
  // Nothing is sealed here, so there is nothing to prove.
  router.get(
    '/v1/billing/proof',
    signedIn(world, (ctx) => {
      readQuery(ctx, proofQuery);
      throw proofNotReady();
    }),
  );
  router.get('/v1/ledger/roots', (ctx) => {
    readQuery(ctx, rootsQuery);
    ctx.body = { roots: [] };
  });
}

function showLedger(world: World) {
  return signedIn(world, (ctx, { wallet, rentals }) => {
    const query = readQuery(ctx, ledgerQuery);
    const { type, rentalId, from, to, cursor, pageSize, beforeSeq = Infinity } = query;
    refuseUnordered(from, to);
    const key = onlyOf(ctx);
    if (rentalId === undefined) refuseWhenCapped(ctx);
    else if (
      !rentals.some(({ row }) => row.id === rentalId && (key === undefined || row.api_key_id === key))
    ) {
      throw refusalByCode('rental_not_found');
    }
    const before = Math.min(readCursor(cursor, isNumberKey)?.[0] ?? Infinity, beforeSeq);
    const fromSeq = from ? firstSeqAt(wallet.entries, from) : 1;
    const toSeq = to ? firstSeqAt(wallet.entries, to) : wallet.entries.length + 1;
    // Numbers begin with 1 and have no gap, so they are places in the list.
    const entries = wallet.entries
      .slice(fromSeq - 1, Math.min(before, toSeq) - 1)
      .filter((entry) => type === undefined || entry.type === type)
      .filter((entry) => rentalId === undefined || entry.rentalId === rentalId)
      .toReversed();
    const range = { oldestSeq: fromSeq, newestSeq: toSeq - 1 };
    const { page, nextCursor } = pageOf(entries, pageSize, (entry) => [entry.seq]);
    ctx.body = presentLedger(query, { page, balanceCents: wallet.totalCents, nextCursor, range });
  });
}

/** The number of the first entry at or after an instant. */
function firstSeqAt(entries: readonly LedgerEntry[], at: Date): number {
  const index = entries.findIndex(({ createdAt }) => createdAt >= at);
  return index === -1 ? entries.length + 1 : index + 1;
}

function between(
  entries: readonly LedgerEntry[],
  from = new Date(0),
  to = new Date(8_640_000_000_000_000),
): LedgerEntry[] {
  return entries.filter(({ createdAt }) => createdAt >= from && createdAt < to);
}

type LabelOf = (rentalId: RentalId | null) => string | null;

function statementOf(
  entries: readonly LedgerEntry[],
  { from, to }: StatementQuery,
  labelOf: LabelOf,
): Statement {
  return {
    openingBalanceCents: between(entries, undefined, from).at(-1)?.balanceAfterCents ?? 0,
    closingBalanceCents: between(entries, undefined, to).at(-1)?.balanceAfterCents ?? 0,
    sums: sumsOf(between(entries, from, to), labelOf),
  };
}

function sumsOf(entries: readonly LedgerEntry[], labelOf: LabelOf): StatementSum[] {
  const sums = new Map<string, StatementSum>();
  for (const { type, rentalId, amountCents } of entries) {
    const name = `${ledgerEntryTypes.indexOf(type)} ${rentalId ?? ''}`;
    const sum = sums.get(name) ?? { entries: 0, amountCents: 0 };
    sums.set(name, {
      ...{ type, rentalId, label: labelOf(rentalId) },
      ...{ entries: sum.entries + 1, amountCents: sum.amountCents + amountCents },
    });
  }
  return [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum);
}
