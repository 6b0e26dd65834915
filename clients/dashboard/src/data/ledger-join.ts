import type { LedgerEntry } from '@gpu-rental/client';

/** The newest entries, numbered downwards without a gap from `newestSeq`. */
export interface LedgerHead {
  readonly newestSeq: number;
  /** The wallet's total after the newest one. */
  readonly balanceCents: number;
  readonly entries: readonly LedgerEntry[];
}

/** Who reads below the top loses no line for a while, until the block in which it lies is read. */
const HEAD_KEPT = 1_000;
/** Puts new entries before known ones; undefined where some between them were not read. */
export function joinHeads(known: LedgerHead, news: LedgerHead): LedgerHead | undefined {
  const added = news.newestSeq - known.newestSeq;
  if (added < 0 || added > news.entries.length) return undefined;
  const entries = [...news.entries.slice(0, added), ...known.entries].slice(0, HEAD_KEPT);
  return { ...news, entries };
}

/** Puts entries before older ones; undefined where the two don't meet, so that some between them are missing. */
export function joinEntries(
  news: readonly LedgerEntry[],
  known: readonly LedgerEntry[],
): readonly LedgerEntry[] | undefined {
  const [first] = known;
  if (!first) return undefined;
  const meet = news.findIndex(({ id }) => id === first.id);
  return meet === -1 ? undefined : [...news.slice(0, meet), ...known];
}
