import type { components, LedgerEntry } from '@gpu-rental/client';
import { infiniteQueryOptions, queryOptions, type QueryClient } from '@tanstack/react-query';
import { joinEntries, joinHeads, type LedgerHead } from './ledger-join.js';
import { api, apiOrigin } from './client.js';

export type LedgerEntryType = components['schemas']['LedgerEntryType'];

/** Two instants; an end that is left out is open. */
export interface Between {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** What the service filters entries by. */
export interface LedgerFilter extends Between {
  readonly type?: LedgerEntryType | undefined;
  readonly rentalId?: string | undefined;
}

/** Below every number that an entry can have. */
const NEWEST = Number.MAX_SAFE_INTEGER;

const HEAD_SIZE = 100;
/** What a second brings at the most where few machines run: read first when the rest is known. */
const NEWS_SIZE = 10;
const headKey = ['ledger', 'head'] as const;

/** The newest entries. Read again, it asks only for what is new. */
export const ledgerHeadQuery = queryOptions({
  queryKey: headKey,
  queryFn: async ({ signal, client }): Promise<LedgerHead> => {
    const known = client.getQueryData<LedgerHead>(headKey);
    const news = await readHead(known ? NEWS_SIZE : HEAD_SIZE, signal);
    if (!known) return news;
    return joinHeads(known, news) ?? readHead(HEAD_SIZE, signal);
  },
});

async function readHead(pageSize: number, signal: AbortSignal): Promise<LedgerHead> {
  const { entries, balanceCents, range } = await api.wallet
    .ledger({ beforeSeq: NEWEST, pageSize }, { signal })
    .firstPage();
  return { entries, balanceCents, newestSeq: range?.newestSeq ?? 0 };
}

/** How many entries a block holds: at most as many as are read first, so that all that is in no full block is known. */
const BLOCK_SIZE = 100;

/** The block of entries in which a number lies: block 0 holds the numbers 1 to 100. */
export const blockOf = (seq: number): number => Math.floor((seq - 1) / BLOCK_SIZE);

/** A full block of entries, newest first. It never changes, and is soon forgotten when nobody looks at it. */
export const ledgerBlockQuery = (block: number) =>
  queryOptions({
    queryKey: ['ledger', 'block', block],
    queryFn: async ({ signal }): Promise<LedgerEntry[]> => {
      const beforeSeq = (block + 1) * BLOCK_SIZE + 1;
      return (await api.wallet.ledger({ beforeSeq, pageSize: BLOCK_SIZE }, { signal }).firstPage()).entries;
    },
    staleTime: 'static',
    gcTime: 30_000,
  });

/** Finds an entry by its number in what was read; undefined: it has to be read first. */
export function findEntry(
  client: QueryClient,
  head: LedgerHead | undefined,
  seq: number,
): LedgerEntry | undefined {
  const fromHead = head?.entries[head.newestSeq - seq];
  if (fromHead) return fromHead;
  const block = client.getQueryData(ledgerBlockQuery(blockOf(seq)).queryKey);
  return block?.[(blockOf(seq) + 1) * BLOCK_SIZE - seq];
}

/**
 * The numbers of the oldest and the newest entry between two instants.
 * @param isOpen entries are still written there: once they are not, it is read anew
 */
export const ledgerRangeQuery = ({ from, to }: Between, isOpen: boolean) =>
  queryOptions({
    queryKey: ['ledger', 'range', from, to, isOpen],
    queryFn: async ({ signal }): Promise<components['schemas']['LedgerRange']> => {
      const query = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
      const page = await api.wallet.ledger({ ...query, beforeSeq: 1, pageSize: 1 }, { signal }).firstPage();
      return page.range ?? { oldestSeq: 1, newestSeq: 0 };
    },
  });

/** The entries of a type or a rental, newest first, page by page: their numbers have gaps. */
export const filteredLedgerQuery = (filter: LedgerFilter) =>
  infiniteQueryOptions({
    queryKey: ['ledger', 'pages', filter],
    queryFn: ({ pageParam, signal }) =>
      api.wallet.ledger({ ...definedOf(filter), pageSize: 200 }, { signal }).page(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    // Older entries never change; what is new is read by itself.
    staleTime: 'static',
    gcTime: 30_000,
  });

const NEWS_OF_FILTER = 50;

/** What was written since: the newest entries of a filter, as far as they were read without a gap. */
export const filteredNewsQuery = (filter: LedgerFilter) =>
  queryOptions({
    queryKey: ['ledger', 'news', filter],
    queryFn: async ({ signal, client, queryKey }): Promise<readonly LedgerEntry[]> => {
      const known = client.getQueryData<readonly LedgerEntry[]>(queryKey) ?? [];
      const query = { ...definedOf(filter), pageSize: NEWS_OF_FILTER };
      const { entries } = await api.wallet.ledger(query, { signal }).firstPage();
      return joinEntries(entries, known) ?? entries;
    },
    gcTime: 30_000,
  });

function definedOf({ type, rentalId, from, to }: LedgerFilter) {
  return {
    ...(type !== undefined && { type }),
    ...(rentalId !== undefined && { rentalId }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  };
}

/** Why an entry was written. Its rental may still be running, so that this is read anew each time. */
export const explainQuery = (id: string) =>
  queryOptions({
    queryKey: ['explain', id],
    queryFn: ({ signal }) => api.wallet.explain(id, { signal }),
  });

/** The very first entry; null while there is none. */
export const firstEntryQuery = queryOptions({
  queryKey: ['ledger', 'first'],
  queryFn: async ({ signal }): Promise<LedgerEntry | null> => {
    const { entries } = await api.wallet.ledger({ beforeSeq: 2, pageSize: 1 }, { signal }).firstPage();
    return entries[0] ?? null;
  },
});

/** Where the ledger's file is: the browser saves it by itself, with the session's cookie. */
export function ledgerCsvAddress({ from, to }: Between): string {
  const address = new URL('/v1/billing/ledger.csv', apiOrigin);
  if (from !== undefined) address.searchParams.set('from', from);
  if (to !== undefined) address.searchParams.set('to', to);
  return address.href;
}
