import * as declared from './describe.js';
import { serve, type Handler } from '../http/serve.js';
import { findRental } from '../../adapters/postgres/rentals/rental-reads.js';
import { readLedger, type LedgerEntry } from '../../adapters/postgres/ledger/ledger-reads.js';
import { findStretch } from '../../adapters/postgres/ledger/statement-reads.js';
import { isId, type ApiKeyId, type RentalId, type UserId } from '../../domain/ids.js';
import { Refusal } from '../../domain/refusal.js';
import { refuseWhenCapped } from '../spending/capped.js';
import { callerOf, onlyOf, type ApiDeps, type ApiRouter } from '../context.js';
import { isNumberKey, pageOf, readCursor } from '../http/cursor.js';
import { type Read } from '../http/fields.js';
import { readQuery } from '../http/validation.js';
import { refuseUnordered } from './statement.js';

/** The route of a wallet's ledger, newest entry first (spec: GET /v1/billing/ledger). */
export function ledgerRoutes(router: ApiRouter, deps: ApiDeps): void {
  serve(router, deps, declared.listLedger, showLedger(deps));
}

function showLedger(deps: ApiDeps): Handler<typeof declared.listLedger> {
  return async (ctx) => {
    const query = readQuery(ctx, declared.ledgerQuery);
    const { type, rentalId, from, to, cursor, pageSize } = query;
    refuseUnordered(from, to);
    const { userId } = callerOf(ctx);
    if (rentalId === undefined) refuseWhenCapped(ctx);
    const ofRental = await ownRental(deps, userId, rentalId, onlyOf(ctx));
    const between = await findRange(deps, userId, from, to);
    const filter = {
      type,
      rentalId: ofRental,
      fromSeq: between.fromSeq,
      beforeSeq: lowest(readCursor(cursor, isNumberKey)?.[0], query.beforeSeq, between.toSeq),
    };
    const { entries, newestSeq, balanceCents } = await readLedger(
      deps.db,
      userId,
      filter,
      pageSize + 1,
      ctx.state.ahead,
    );
    const { page, nextCursor } = pageOf(entries, pageSize, (entry) => [entry.seq]);
    const range = {
      oldestSeq: between.fromSeq ?? 1,
      newestSeq: between.toSeq === undefined ? newestSeq : between.toSeq - 1,
    };
    return presentLedger(query, { page, balanceCents, nextCursor, range });
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

/** Finds which numbers lie between two instants; an end that is not asked for is undefined. */
async function findRange(
  deps: ApiDeps,
  userId: UserId,
  from: Date | undefined,
  to: Date | undefined,
): Promise<{ fromSeq: number | undefined; toSeq: number | undefined }> {
  if (!from && !to) return { fromSeq: undefined, toSeq: undefined };
  const { fromSeq, toSeq } = await findStretch(deps.db, userId, from, to);
  return { fromSeq: from && fromSeq, toSeq: to && toSeq };
}

function lowest(...seqs: readonly (number | undefined)[]): number | undefined {
  const known = seqs.filter((seq) => seq !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

interface LedgerPage {
  readonly page: readonly LedgerEntry[];
  readonly balanceCents: number;
  readonly nextCursor: string | null;
  /** The numbers of the oldest and the newest entry between the asked instants, whatever other filters say. */
  readonly range: { readonly oldestSeq: number; readonly newestSeq: number };
}

/** A page of the ledger on read; who asks by numbers is told which there are. */
export function presentLedger(
  { beforeSeq }: Read<typeof declared.ledgerQuery>,
  { page, balanceCents, nextCursor, range }: LedgerPage,
) {
  return {
    entries: page.map(presentEntry),
    balanceCents,
    ...(beforeSeq !== undefined && { range }),
    nextCursor,
  };
}

/** A ledger entry on read. */
function presentEntry(entry: LedgerEntry) {
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
