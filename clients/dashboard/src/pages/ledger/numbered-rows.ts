import { keepPreviousData, useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { blockOf, findEntry, ledgerBlockQuery, ledgerRangeQuery, type Between } from '../../data/ledger.js';
import type { LedgerHead } from '../../data/ledger-join.js';
import { useServiceNow } from '../../live/service-clock.js';
import type { LedgerRows, Window } from './rows.js';
import { spanOf, type Span } from './span.js';
import { useLedgerHead } from './use-ledger-head.js';

/** How often it is looked whether the last instant of a list is over. */
const LOOK_EVERY_MS = 60_000;

interface NumberedOptions {
  readonly between: Between;
  /** Only entries that are numbered below. */
  readonly before: number | undefined;
  readonly looked: Window;
  /** True: new entries appear on top. */
  readonly isFollowing: boolean;
}

/**
 * Entries without a gap in their numbers. A line's entry is known by its number, so that any part of the list is read
 * without what lies before it, and forgotten again.
 */
export function useNumberedRows({ between, before, looked, isFollowing }: NumberedOptions): LedgerRows {
  const client = useQueryClient();
  const head = useLedgerHead();
  const { range, isBounded, isGrowing, top } = useEnds(head.data, between, before);
  const [newest, showNewer] = useShownTop(top, isFollowing || !isGrowing);
  const span = spanOf(newest, isBounded ? range.data?.oldestSeq : 1);
  const blocks = useBlocks(head.data, span, looked);
  return {
    ...span,
    ...stateOf(isBounded ? [head, range] : [head], blocks),
    at: (index) => findEntry(client, head.data, span.newest - index),
    newer: top === undefined ? 0 : top - span.newest,
    showNewer,
  };
}

/** Where the list begins and ends: at what was just written until its last instant is over. */
function useEnds(head: LedgerHead | undefined, between: Between, before: number | undefined) {
  const isOpen = isOpenEnded(between, before, useServiceNow(LOOK_EVERY_MS));
  const isBounded = between.from !== undefined || !isOpen;
  const range = useQuery({
    ...ledgerRangeQuery(between, isOpen),
    // The list stands as it is while its end, which has passed, is looked up.
    placeholderData: keepPreviousData,
    enabled: isBounded,
  });
  const isGrowing = isOpen || range.isPlaceholderData;
  const top = isGrowing ? head?.newestSeq : range.data && newestOf(range.data, before);
  return { range, isBounded, isGrowing, top };
}

interface Read {
  readonly data: unknown;
  readonly error: Error | null;
  readonly refetch: () => unknown;
}

/** What is still to come, and what failed: nothing is shown without the first reads, but a line may wait for its block. */
function stateOf(first: readonly Read[], blocks: readonly Read[]) {
  const failed = [...first, ...blocks].filter(({ error }) => error !== null);
  return {
    isPending: first.some(({ data }) => data === undefined),
    error: failed[0]?.error ?? null,
    retry: () => {
      for (const { refetch } of failed) void refetch();
    },
  };
}

/** Tells whether entries that are written from now on are part of the list. */
function isOpenEnded({ to }: Between, before: number | undefined, nowMs: number): boolean {
  return before === undefined && (to === undefined || Date.parse(to) > nowMs);
}

const newestOf = ({ newestSeq }: { readonly newestSeq: number }, before = Infinity): number =>
  Math.min(newestSeq, before - 1);

/** The number of the first line: it stands still while somebody reads. With it what moves it to the newest once. */
function useShownTop(top: number | undefined, isMoving: boolean): [number | undefined, () => void] {
  const [shown, setShown] = useState(top);
  if ((isMoving || shown === undefined) && shown !== top) setShown(top);
  return [shown, () => setShown(top)];
}

/** What the head surely still holds when the blocks below are read. */
const SURE = 300;

function useBlocks(head: LedgerHead | undefined, { newest, count }: Span, { first, last }: Window) {
  const highest = newest - first;
  const lowest = newest - Math.min(last, count - 1);
  const wanted: number[] = [];
  if (head && count > 0) {
    for (let block = blockOf(highest); block >= 0 && block >= blockOf(lowest); block -= 1) {
      if (isNeeded(head, block)) wanted.push(block);
    }
  }
  const blocks = useQueries({ queries: wanted.map((block) => ledgerBlockQuery(block)) });
  // Only what is looked at here has the lines drawn anew: lines find their entries in the cache.
  return blocks.map(({ data, error, refetch }) => ({ data, error, refetch }));
}

/** A block that is not full yet lies in the head. */
function isNeeded({ newestSeq, entries }: LedgerHead, block: number): boolean {
  const isFull = blockOf(newestSeq + 1) > block;
  const isSure = blockOf(newestSeq - Math.min(SURE, entries.length) + 1) < block;
  return isFull && !isSure;
}
