import * as declared from './describe.js';
import type { AnswerOf } from '../http/openapi/operation.js';
import type { Step } from '../http/middleware/session.js';
import { register } from '../http/serve.js';
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import pLimit from 'p-limit';
import type { LedgerEntry } from '../../adapters/postgres/ledger/ledger-reads.js';
import {
  findStretch,
  readStatement,
  readStretch,
  type Statement,
  type StatementSum,
  type Stretch,
} from '../../adapters/postgres/ledger/statement-reads.js';
import { groupedBy } from '../../domain/grouped.js';
import type { RentalId } from '../../domain/ids.js';
import { callerOf, type ApiContext, type ApiDeps, type ApiRouter } from '../context.js';
import { fieldRefusal, readQuery } from '../http/validation.js';

/** The routes for accountants: a wallet's sums between two instants, and its whole ledger as a file. */
export function statementRoutes(router: ApiRouter, deps: ApiDeps): void {
  register(router, deps, declared.showStatement, showStatement(deps));
  register(router, deps, declared.downloadLedger, sendCsv(deps));
}

function showStatement(deps: ApiDeps): Step {
  return async (ctx) => {
    const query = readQuery(ctx, declared.statementQuery);
    const { from, to, groupBy: labelKey } = query;
    refuseUnordered(from, to);
    const statement = await readStatement(deps.db, callerOf(ctx).userId, { from, to, labelKey });
    ctx.type = 'json';
    ctx.body = Readable.from(piecesOf(presentStatement(query, statement)));
  };
}

/** A wallet's sums between two instants. */
export function presentStatement(
  { from, to, groupBy: labelKey }: declared.StatementQuery,
  statement: Statement,
): AnswerOf<typeof declared.showStatement> {
  return {
    from: from.toISOString(),
    to: to.toISOString(),
    openingBalanceCents: statement.openingBalanceCents,
    totals: totalsOf(statement),
    rentals: rentalsOf(statement),
    ...(labelKey !== undefined && { groups: groupsOf(statement, labelKey) }),
    closingBalanceCents: statement.closingBalanceCents,
  };
}

/** How many rentals of a statement are written in one go. */
const PIECE = 500;

/** The text of a statement. Its rentals are of any number: others are answered between two pieces of them. */
async function* piecesOf({ rentals, ...rest }: ReturnType<typeof presentStatement>): AsyncGenerator<string> {
  yield `${JSON.stringify(rest).slice(0, -1)},"rentals":[`;
  for (let at = 0; at < rentals.length; at += PIECE) {
    const piece = JSON.stringify(rentals.slice(at, at + PIECE)).slice(1, -1);
    yield at === 0 ? piece : `,${piece}`;
    await setImmediate();
  }
  yield ']}';
}

/** Refuses instants in the wrong order. @throws Refusal validation_failed */
export function refuseUnordered(from: Date | undefined, to: Date | undefined): void {
  if (from && to && from >= to) throw fieldRefusal('to', 'to must be later than from');
}

function totalsOf({ sums }: Statement) {
  return [...groupedBy(sums, ({ type }) => type)].map(([type, ofType]) => ({
    type,
    entries: sum(ofType, ({ entries }) => entries),
    amountCents: sum(ofType, ({ amountCents }) => amountCents),
  }));
}

/**
 * The sums by the values of a label, in their order; then rentals without it, then what is no rental's. Each entry is in
 * one group, so the groups add up to the totals (decision 105, "Changed rentals").
 */
function groupsOf({ sums }: Statement, labelKey: string) {
  const labelled = sums.filter((each) => each.label !== null);
  const unlabelled = sums.filter((each) => each.label === null && each.rentalId !== null);
  const other = sums.filter((each) => each.rentalId === null);
  const byValue = [...groupedBy(labelled, ({ label }) => label)].sort(([a], [b]) =>
    (a ?? '') < (b ?? '') ? -1 : 1,
  );
  const groups = [
    ...byValue.map(([value, ofValue]) => ({ kind: 'label' as const, value, ofGroup: ofValue })),
    { kind: 'unlabelled' as const, value: null, ofGroup: unlabelled },
    { kind: 'other' as const, value: null, ofGroup: other },
  ];
  return groups
    .filter(({ ofGroup }) => ofGroup.length > 0)
    .map(({ kind, value, ofGroup }) => ({ kind, key: labelKey, value, ...chargesOf(ofGroup) }));
}

/** Entries, charges and refunds of rentals, and what the wallet was moved by in all; amounts in cents. */
function chargesOf(sums: readonly StatementSum[]) {
  const ofRentals = sums.filter(({ rentalId }) => rentalId !== null);
  const charges = ofRentals.filter(({ type }) => type === 'rental_charge');
  const chargedCents = -sum(charges, (each) => each.amountCents);
  return {
    entries: sum(sums, ({ entries }) => entries),
    chargedCents,
    refundedCents: sum(ofRentals, (each) => each.amountCents) + chargedCents,
    amountCents: sum(sums, (each) => each.amountCents),
  };
}

function rentalsOf({ sums }: Statement) {
  const ofRentals = sums.filter(
    (each): each is StatementSum & { rentalId: RentalId } => each.rentalId !== null,
  );
  return [...groupedBy(ofRentals, ({ rentalId }) => rentalId)].map(([rentalId, ofRental]) => ({
    rentalId,
    ...chargesOf(ofRental),
  }));
}

function sum<Each>(all: readonly Each[], of: (each: Each) => number): number {
  return all.reduce((total, each) => total + of(each), 0);
}

/**
 * Entries are read a page at a time, as fast as the client takes them, up to the newest of this moment. Between two
 * pages nothing of the database is held. A part of a page is written within some milliseconds, and others are answered
 * before the next.
 */
const CSV_PAGE = 1_000;
const CSV_PART = 250;

function sendCsv(deps: ApiDeps): Step {
  // All files that are under way take no more connections than one caller.
  const atOnce = pLimit(deps.settings.requestsAtOnce);
  return async (ctx) => {
    const { from, to } = readQuery(ctx, declared.csvQuery);
    refuseUnordered(from, to);
    const stretch = await findStretch(deps.db, callerOf(ctx).userId, from, to);
    const readPage = (fromSeq: number): Promise<LedgerEntry[]> =>
      // Whoever has gone while it waited needs no page.
      atOnce(() => (ctx.res.closed ? [] : readStretch(deps.db, { ...stretch, fromSeq }, CSV_PAGE)));
    sendLedgerFile(ctx, pagesOf(readPage, stretch));
  };
}

/** Answers with entries as a file, as fast as the client takes it. */
export function sendLedgerFile(
  ctx: ApiContext,
  pages: AsyncIterable<LedgerEntry[]> | Iterable<LedgerEntry[]>,
): void {
  ctx.type = 'text/csv; charset=utf-8';
  // Without a name the address gives it, or the link that leads here: a month's file says its month.
  ctx.attachment();
  ctx.body = Readable.from(csvOf(pages));
}

async function* csvOf(pages: AsyncIterable<LedgerEntry[]> | Iterable<LedgerEntry[]>): AsyncGenerator<string> {
  yield lineOf(Object.keys(columns));
  for await (const page of pages) {
    for (let written = 0; written < page.length; written += CSV_PART) {
      yield page
        .slice(written, written + CSV_PART)
        .map((entry) => lineOf(Object.values(columns).map((columnOf) => String(columnOf(entry) ?? ''))))
        .join('');
      await setImmediate();
    }
  }
}

async function* pagesOf(
  readPage: (fromSeq: number) => Promise<LedgerEntry[]>,
  { fromSeq, toSeq }: Stretch,
): AsyncGenerator<LedgerEntry[]> {
  for (let next = fromSeq; next < toSeq;) {
    const page = await readPage(next);
    const last = page.at(-1);
    if (!last) return;
    yield page;
    next = last.seq + 1;
  }
}

const columns: Record<string, (entry: LedgerEntry) => string | number | null> = {
  id: ({ id }) => id,
  createdAt: ({ createdAt }) => createdAt.toISOString(),
  type: ({ type }) => type,
  amountCents: ({ amountCents }) => amountCents,
  balanceAfterCents: ({ balanceAfterCents }) => balanceAfterCents,
  rentalId: ({ rentalId }) => rentalId,
  processorChargeId: ({ processorChargeId }) => processorChargeId,
};

/** RFC 4180: CRLF ends a line, and a text with a separator in it is quoted. */
function lineOf(cells: readonly string[]): string {
  return `${cells.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\r\n`;
}
