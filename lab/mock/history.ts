import { createHash } from 'node:crypto';
import type { OfferRecord } from '../../api/catalog/known-reliability.js';
import type { OfferHour } from '../../adapters/postgres/catalog/offer-history.js';
import type { ListingRow } from '../../adapters/postgres/rows/tables.js';
import { catalogLimits } from '../../domain/catalog/limits.js';
import { reliabilityOf, type Reliability } from '../../domain/catalog/reliability.js';
import { countriesOf } from '../../domain/catalog/regions.js';
import { DAY, HOUR } from '../../domain/durations.js';

const PRICE_STAYS = 12 * HOUR;

/**
 * Makes up the hours of a family: the same each time for the same family, hour and region. The present hour is what is
 * on sale. Of ten hours one has nothing on sale, and of a hundred nobody looked at one.
 */
export function madeUpHistory(
  listings: readonly ListingRow[],
  familyId: string,
  region: string | undefined,
  now: Date,
): OfferHour[] {
  const countries = region === undefined ? undefined : countriesOf(region);
  const offers = listings.filter(
    (row) => row.family === familyId && (countries === undefined || countries.includes(row.region_code)),
  );
  const lowest = Math.min(...offers.map((row) => row.price_per_hour_cents));
  const thisHour = Math.floor(now.getTime() / HOUR) * HOUR;
  const hours: OfferHour[] = [];
  for (let at = thisHour - catalogLimits.historyDays * DAY; at < thisHour; at += HOUR) {
    const [kind] = diceOf(`${familyId} ${at}`);
    // A price stays for a while, as prices do.
    const [, price, count] = diceOf(`${familyId} ${Math.floor(at / PRICE_STAYS)}`);
    if (kind % 100 === 0) continue;
    const isOffered = offers.length > 0 && kind % 10 !== 1;
    const cents = Math.max(1, Math.round((lowest * (90 + (price % 31))) / 100));
    hours.push(hourOf(at, isOffered ? 1 + (count % offers.length) : 0, cents));
  }
  return [...hours, hourOf(thisHour, offers.length, lowest)];
}

function hourOf(at: number, available: number, cents: number): OfferHour {
  return { at: new Date(at), lowestPricePerHourCents: available === 0 ? null : cents, available };
}

/** Makes up how reliable the machines of a family are; of one family too little is known. */
export function madeUpReliability({ provider_code: code, family }: ListingRow): Reliability | null {
  const [failures, time, losses] = diceOf(`${code} ${family}`);
  const p50 = 30 + (time % 40);
  return reliabilityOf({
    created: family === 'rtx-5090' ? 12 : 480,
    notCreated: failures % 25,
    sshP50Seconds: p50,
    sshP90Seconds: 2 * p50,
    losses: losses % 12,
    machineMs: 4_000 * HOUR,
  });
}

/** Makes up what is known of an offer: of two in three that a few of its own machines were asked for. */
export function madeUpRecord(row: ListingRow): OfferRecord {
  const [kind, count, failed] = diceOf(row.offer_id);
  const asked = kind % 3 === 0 ? 0 : 1 + (count % 9);
  const succeeded = asked - (failed % 4 === 0 && asked > 1 ? 1 : 0);
  return {
    reliability: madeUpReliability(row),
    recentStarts: asked === 0 ? null : { succeeded, asked },
  };
}

/** Three numbers that a text always gives. */
function diceOf(text: string): [number, number, number] {
  const hash = createHash('sha256').update(text).digest();
  return [hash.readUInt16BE(0), hash.readUInt16BE(2), hash.readUInt16BE(4)];
}
