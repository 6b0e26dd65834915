import { setTimeout as sleep } from 'node:timers/promises';
import type { LedgerEntryType } from '../../domain/ledger/ledger.js';
import { formatUsd } from '../../domain/money.js';
import { tell, type Stage } from './stage.js';
import { claim } from './story-error.js';

/** One entry of GET /v1/billing/ledger. */
export interface Entry {
  readonly id: string;
  readonly type: LedgerEntryType;
  readonly amountCents: number;
  readonly balanceAfterCents: number;
  readonly createdAt: string;
  readonly rentalId?: string;
}

interface Page {
  readonly entries: readonly Entry[];
  readonly balanceCents: number;
  readonly nextCursor: string | null;
}

/**
 * Shows each new entry as it comes, for some seconds. At least half of the entries that are due must come.
 * @param centsPerHour what runs: an entry is due each second, or for each cent where that takes longer
 */
export async function watchLedger(stage: Stage, forSeconds: number, centsPerHour: number): Promise<void> {
  const seen = new Set((await readPage(stage, null)).entries.map(({ id }) => id));
  const endMs = performance.now() + forSeconds * 1000;
  let ticks = 0;
  while (performance.now() < endMs) {
    const fresh = (await readPage(stage, null)).entries.filter(({ id }) => !seen.has(id));
    for (const entry of fresh.toReversed()) {
      seen.add(entry.id);
      if (entry.type === 'rental_charge') ticks += 1;
      tell(stage, line(entry));
    }
    await sleep(200, undefined, { signal: stage.signal });
  }
  claim(
    2 * ticks >= Math.floor(forSeconds * Math.min(1, centsPerHour / 3_600)),
    `only ${ticks} charges came in ${forSeconds} s. See the heartbeat of the workflow "meter:0" in the Temporal UI.`,
  );
}

/** Every entry of the wallet, newest first, read page by page without a filter. */
export async function readWholeLedger(
  stage: Stage,
): Promise<{ entries: readonly Entry[]; balanceCents: number }> {
  const entries: Entry[] = [];
  let page = await readPage(stage, null);
  const { balanceCents } = page;
  entries.push(...page.entries);
  while (page.nextCursor !== null) {
    page = await readPage(stage, page.nextCursor);
    entries.push(...page.entries);
  }
  return { entries, balanceCents };
}

function line(entry: Entry): string {
  const time = entry.createdAt.slice(11, 23);
  const amount = formatUsd(entry.amountCents).padStart(8);
  return `${time}  ${entry.type.padEnd(15)} ${amount}   balance ${formatUsd(entry.balanceAfterCents)}`;
}

async function readPage(stage: Stage, cursor: string | null): Promise<Page> {
  const query = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
  return (await stage.api.get(`/v1/billing/ledger?pageSize=200${query}`)) as Page;
}
