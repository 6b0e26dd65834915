import * as declared from '../../../api/wallet/describe.js';
import { explainLedgerEntry } from '../../../api/wallet/describe-explain.js';
import { showStanding } from '../../../api/wallet/describe-standing.js';
import type { LedgerEntry } from '../../../adapters/postgres/ledger/ledger-reads.js';
import type { Statement, StatementSum } from '../../../adapters/postgres/ledger/statement-reads.js';
import { presentBalance, presentConfig } from '../../../api/wallet/billing.js';
import { refuseWhenCapped } from '../../../api/spending/capped.js';
import { onlyOf, type ApiRouter } from '../../../api/context.js';
import { isNumberKey, pageOf, readCursor } from '../../../api/http/cursor.js';
import { presentLedger } from '../../../api/wallet/ledger.js';
import * as proof from '../../../api/wallet/describe-proof.js';
import * as spending from '../../../api/wallet/describe-spending.js';
import { presentSpending, refuseWrongDays } from '../../../api/wallet/spending.js';
import { proofNotReady } from '../../../api/wallet/proof.js';
import { presentStanding } from '../../../api/wallet/standing.js';
import { presentStatement, refuseUnordered, sendLedgerFile } from '../../../api/wallet/statement.js';
import { noSuchEntry, presentExplanation } from '../../../api/wallet/explanation-shapes.js';
import { serve } from '../../../api/http/serve.js';
import { readQuery } from '../../../api/http/validation.js';
import type { RentalId } from '../../../domain/ids.js';
import { ledgerEntryTypes } from '../../../domain/ledger/ledger.js';
import { explainEntry } from '../explain.js';
import { readDebt } from '../invoices.js';
import { readBurn } from '../burn.js';
import { refusalByCode } from '../refuse.js';
import { readSpending } from '../spending-by-day.js';
import { registerMock, serveMock, type MockHandler } from '../serve.js';
import { serveDeps } from '../signed-in.js';
import type { World } from '../world.js';

export const mockPublishableKey = 'pk_test_mock';
export const mockSupportContact = 'support@example.com';

/** What is told of an account besides its money. The mock blocks nobody, and takes nothing back. */
function accountRoutes(router: ApiRouter, world: World): void {
  const deps = serveDeps(world);
  serve(router, deps, declared.showBillingConfig, () =>
    presentConfig(mockPublishableKey, mockSupportContact),
  );
  serve(router, deps, showStanding, () =>
    presentStanding({ blockedReason: null, chargesHeld: false, reversals: [] }),
  );
}

/** The wallet's balance and its whole history. */
export function walletRoutes(router: ApiRouter, world: World): void {
  serveMock(router, world, declared.showBalance, (_ctx, account) => {
    const { availableCents, reservedCents } = account.wallet;
    const balance = { availableCents, reservedCents, ...readDebt(account), ...readBurn(account) };
    return presentBalance({ ...balance, readAt: world.now() });
  });
  accountRoutes(router, world);
  serveMock(router, world, declared.listLedger, showLedger);
  serveMock(router, world, explainLedgerEntry, (ctx, account) => {
    const explanation = explainEntry(account, ctx.params['id'] ?? '');
    const key = onlyOf(ctx);
    const rentalId = explanation?.entry.rentalId;
    const isOwn = account.rentals.some(({ row }) => row.id === rentalId && row.api_key_id === key);
    if (!explanation || (key !== undefined && !isOwn)) throw noSuchEntry();
    return presentExplanation(explanation);
  });
  serveMock(router, world, declared.showStatement, (ctx, { wallet, rentals }) => {
    const query = readQuery(ctx, declared.statementQuery);
    refuseUnordered(query.from, query.to);
    const labels = new Map(rentals.map(({ row }) => [row.id, row.labels?.[query.groupBy ?? '']]));
    const labelOf = (rentalId: RentalId | null) =>
      rentalId === null ? null : (labels.get(rentalId) ?? null);
    return presentStatement(query, statementOf(wallet.entries, query, labelOf));
  });
  serveMock(router, world, spending.showSpending, (ctx, account) => {
    const query = readQuery(ctx, spending.spendingQuery);
    refuseWrongDays(query);
    return presentSpending(query, readSpending(account, query));
  });
  registerMock(router, world, declared.downloadLedger, (ctx, { wallet }) => {
    const { from, to } = readQuery(ctx, declared.csvQuery);
    refuseUnordered(from, to);
    sendLedgerFile(ctx, [between(wallet.entries, from, to)]);
  });
  // Nothing is sealed here, so there is nothing to prove.
  registerMock(router, world, proof.downloadProof, (ctx) => {
    readQuery(ctx, proof.proofQuery);
    throw proofNotReady();
  });
  serve(router, serveDeps(world), proof.listRoots, (ctx) => {
    readQuery(ctx, proof.rootsQuery);
    return { roots: [] };
  });
}

const showLedger: MockHandler<typeof declared.listLedger> = (ctx, { wallet, rentals }) => {
  const query = readQuery(ctx, declared.ledgerQuery);
  const { type, rentalId, from, to, cursor, pageSize, beforeSeq = Infinity } = query;
  refuseUnordered(from, to);
  const key = onlyOf(ctx);
  if (rentalId === undefined) refuseWhenCapped(ctx);
  else if (!rentals.some(({ row }) => row.id === rentalId && (key === undefined || row.api_key_id === key))) {
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
  return presentLedger(query, { page, balanceCents: wallet.totalCents, nextCursor, range });
};

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
  { from, to }: declared.StatementQuery,
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
