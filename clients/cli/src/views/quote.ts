import type { Listing, Quote } from '@gpu-rental/client';
import { usd } from '../output/money.js';
import { duration } from '../output/time.js';

/** The facts of a quote, in the order in which they matter. */
export function quoteFacts(quote: Quote): readonly (readonly [string, string | null])[] {
  const { listing, expectedReadySeconds } = quote;
  return [
    ['Machine', machineWords(listing)],
    ['Price', `${usd(quote.pricePerHourCents)} an hour, billed by the second`],
    ['At most', worstCase(quote)],
    ['Held now', `${usd(quote.holdCents)}, for the first hour`],
    ['Left after', quote.missingCents > 0 ? null : leftWords(quote)],
    ['Ready in', expectedReadySeconds === null ? null : readyWords(expectedReadySeconds)],
    ['Public ports', publicWords(quote)],
    ['Image needs', needsWords(quote)],
    ['Billed from', billedWords(quote)],
    ['Usage', quote.telemetrySource === 'reporter' ? 'reported by our script on the machine' : null],
    ['Missing', quote.missingCents > 0 ? `${usd(quote.missingCents)} in your wallet` : null],
  ];
}

/** What a rental by this quote costs at worst. */
export function worstCase({ worstCaseCents }: Pick<Quote, 'worstCaseCents'>): string {
  if (worstCaseCents !== null) return `${usd(worstCaseCents)}, then it stops`;
  return 'your whole balance: it has no limit (set one with --hours or --max-spend)';
}

export function machineWords({ gpuCount, model, vramGb, region }: Omit<Listing, 'reliability'>): string {
  return `${gpuCount} x ${model.replaceAll('_', ' ')} (${vramGb} GB each) in ${region}`;
}

function readyWords({ p50, p90 }: NonNullable<Quote['expectedReadySeconds']>): string {
  return p50 === p90 ? `about ${duration(p50)}` : `${duration(p50)}, rarely more than ${duration(p90)}`;
}

function publicWords({ ownSoftware }: Quote): string | null {
  const names = ownSoftware?.publicPorts ?? [];
  return names.length === 0 ? null : `${names.join(', ')}: everybody on the internet can reach them`;
}

const needs: Readonly<Record<string, string>> = {
  curl_or_wget: 'curl (or a wget that verifies certificates)',
};

function needsWords({ ownSoftware }: Quote): string | null {
  const names = (ownSoftware?.imageNeeds ?? []).map((need) => needs[need] ?? need);
  return names.length === 0 ? null : `${names.join(', ')}: without them it never answers, and is billed`;
}

function billedWords({ ownSoftware }: Quote): string | null {
  if (ownSoftware === null) return null;
  return `the first answer of SSH or a public port, or ${duration(ownSoftware.graceSeconds)} after it runs`;
}

function leftWords({ walletAfterCents, runwaySecondsAfter }: Quote): string {
  return `${usd(walletAfterCents)}, which lasts ${duration(runwaySecondsAfter)}`;
}
