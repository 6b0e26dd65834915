import { families } from '../domain/catalog/families.js';
import type { Offer } from '../adapters/providers/provider.js';

/** The offered models: memory per GPU, cents per GPU and hour, and their share of the offers per thousand. */
const models: readonly [model: string, vramGb: number, cents: number, perMille: number][] = [
  ['RTX_4090', 24, 44, 190],
  ['RTX_5090', 32, 75, 110],
  ['RTX_4000_ADA', 20, 24, 40],
  ['RTX_6000_ADA', 48, 82, 45],
  ['RTX_PRO_6000', 96, 179, 40],
  ['RTX_A4000', 16, 18, 70],
  ['RTX_A5000', 24, 26, 60],
  ['RTX_A6000', 48, 49, 75],
  ['A40', 48, 42, 40],
  ['L4', 24, 44, 45],
  ['L40', 48, 88, 30],
  ['L40S', 48, 96, 55],
  ['A100_PCIE_40GB', 40, 85, 15],
  ['A100_SXM_40GB', 40, 99, 10],
  ['A100_PCIE_80GB', 80, 129, 40],
  ['A100_SXM_80GB', 80, 155, 30],
  ['H100_PCIE_80GB', 80, 215, 30],
  ['H100_SXM_80GB', 80, 269, 45],
  ['H100_NVL_94GB', 94, 259, 8],
  ['H200_SXM_141GB', 141, 349, 14],
  ['H200_NVL_141GB', 141, 339, 2],
  ['B200', 180, 549, 6],
];
const counts: readonly [gpuCount: number, perMille: number][] = [
  [1, 560],
  [2, 190],
  [4, 130],
  [8, 120],
];
const regions: readonly [region: string, code: string, perMille: number][] = [
  ['Kansas City, United States', 'US', 430],
  ['Montreal, Canada', 'CA', 70],
  ['Frankfurt, Germany', 'DE', 80],
  ['Amsterdam, Netherlands', 'NL', 60],
  ['Paris, France', 'FR', 50],
  ['London, United Kingdom', 'GB', 45],
  ['Oslo, Norway', 'NO', 45],
  ['Stockholm, Sweden', 'SE', 35],
  ['Helsinki, Finland', 'FI', 30],
  ['Prague, Czechia', 'CZ', 30],
  ['Reykjavik, Iceland', 'IS', 20],
  ['Warsaw, Poland', 'PL', 20],
  ['Tokyo, Japan', 'JP', 30],
  ['Singapore', 'SG', 20],
  ['Mumbai, India', 'IN', 15],
  ['Sydney, Australia', 'AU', 10],
  ['Tel Aviv, Israel', 'IL', 10],
];

/** Returns numbers in [0, 1) that are the same in each run (mulberry32), so that two runs compare the same catalog. */
export function createDice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Picks one of the choices; the last element of each is its share per thousand. */
function pick<Choice extends readonly unknown[]>(choices: readonly Choice[], dice: () => number): Choice {
  let left = dice() * 1_000;
  const chosen = choices.find((choice) => (left -= Number(choice.at(-1))) < 0) ?? choices[0];
  if (!chosen) throw new Error('nothing to choose from');
  return chosen;
}

/**
 * Makes a provider's catalog of this size: many cheap single cards, few dear boxes of eight, half of it in North
 * America. Prices lie up to a half above and a quarter below the usual ones; boxes with an interconnect cost a little
 * more.
 */
export function makeOffers(provider: string, size: number, seed: number): Offer[] {
  const dice = createDice(seed);
  return Array.from({ length: size }, (_, index) => {
    const [model, vramGb, cents] = pick(models, dice);
    const [gpuCount] = pick(counts, dice);
    const [region, regionCode] = pick(regions, dice);
    const isJoined = model.includes('SXM') || model === 'B200';
    return {
      offerId: `${provider}-${index}-${model.toLowerCase()}-x${gpuCount}`,
      model,
      family: families.find((family) => family.models.includes(model))?.id ?? '',
      vramGb,
      gpuCount,
      pricePerHourCents: Math.ceil(cents * gpuCount * (0.75 + 0.75 * dice()) * (isJoined ? 1.05 : 1)),
      region,
      regionCode,
      interconnect: isJoined ? 'sxm' : 'pcie',
    };
  });
}

/** Returns the same catalog a moment later: the given number per thousand of its offers cost a cent more. */
export function reprice(offers: readonly Offer[], perMille: number): Offer[] {
  return offers.map((offer, index) =>
    index % 1_000 < perMille ? { ...offer, pricePerHourCents: offer.pricePerHourCents + 1 } : offer,
  );
}
