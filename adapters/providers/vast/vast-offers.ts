import { catalogLimits } from '../../../domain/catalog/limits.js';
import { HOUR } from '../../../domain/durations.js';
import { dateOrNull, numberField, fieldsOf, textField, type Fields } from '../upstream/fields.js';
import { findGpuModel, type GpuModel } from '../offers/gpu-models.js';
import { centsOfUsd } from '../offers/prices.js';
import { findCountry } from '../offers/regions.js';
import { versionOrNull, wholeOrNull } from '../offers/machine-facts.js';
import type { MachineFacts, Oddity, Offer } from '../provider.js';
import { VAST_DISK_GB, vastMinCudaVersion } from './vast-templates.js';

/** The most offers of one search. Vast sells some thousands of machines. */
const MOST_OFFERS = 10_000;
/** What ends sooner is not worth the boot. */
const SHORTEST_CONTRACT_MS = 6 * HOUR;
/**
 * Traffic is billed by the byte and the renter pays by the second: offers are sold only where a link that is busy for an
 * hour costs less than this share of the hour's price (decision 157, "Four upstreams").
 */
const MOST_TRAFFIC_SHARE = 0.05;

/** The body of the search for all that we may sell. */
export const vastSearch = {
  type: 'ondemand',
  limit: MOST_OFFERS,
  verified: { eq: true },
  rentable: { eq: true },
  rented: { eq: false },
  num_gpus: { in: [...catalogLimits.gpuCounts] },
  cpu_arch: { in: ['amd64'] },
  cuda_max_good: { gte: vastMinCudaVersion },
  // Without a port of its own a machine is reached through the upstream's proxy alone.
  direct_port_count: { gte: 1 },
  disk_space: { gte: VAST_DISK_GB },
  duration: { gte: SHORTEST_CONTRACT_MS / 1_000 },
  allocated_storage: VAST_DISK_GB,
};

/** Reads one element of `offers`; nothing for what we can't sell, or must not. */
export function readOffer(value: unknown, odd: (oddity: Oddity) => void, nowMs = Date.now()): Offer[] {
  const offer = fieldsOf(value);
  const terms = termsOf(offer);
  if (terms === undefined) {
    odd({ kind: 'malformed', subject: `offer ${numberField(offer, 'id') ?? '?'}` });
    return [];
  }
  const { endsAt, ...sold } = terms;
  if (!isSold(offer, sold.gpuCount) || endsAt.getTime() - nowMs < SHORTEST_CONTRACT_MS) return [];
  const gpu = modelOf(offer, odd);
  const place = placeOf(offer, odd);
  if (gpu === undefined || place === undefined) return [];
  const machine = machineOf(offer);
  return [{ ...sold, ...gpu, ...place, interconnect: interconnectOf(gpu), machine, availableUntil: endsAt }];
}

/** The share of the host that is rented; the disk is the one that each create asks for. */
function machineOf(offer: Fields): MachineFacts {
  const vcpus = numberField(offer, 'cpu_cores_effective');
  const share = (vcpus ?? 0) / (numberField(offer, 'cpu_cores') ?? vcpus ?? 1);
  const memoryMb = numberField(offer, 'cpu_ram');
  // Coarse, because it is measured anew all the time and each change is written.
  const mbps = Math.floor((numberField(offer, 'inet_down') ?? 0) / 100) * 100;
  return {
    vcpus: wholeOrNull(vcpus),
    memoryGb: wholeOrNull(memoryMb === null ? null : (memoryMb * Math.min(1, share)) / 1_024),
    diskGb: VAST_DISK_GB,
    networkMbps: wholeOrNull(mbps),
    cudaVersion: versionOrNull(numberField(offer, 'cuda_max_good')),
    driverVersion: versionOrNull(textField(offer, 'driver_version')),
  };
}

/** Reads what each offer must tell; undefined for one that does not. */
function termsOf(
  offer: Fields,
): (Pick<Offer, 'offerId' | 'pricePerHourCents' | 'gpuCount' | 'host'> & { endsAt: Date }) | undefined {
  const id = numberField(offer, 'id');
  const pricePerHourCents = centsOfUsd(numberField(offer, 'dph_total') ?? 0);
  const gpuCount = numberField(offer, 'num_gpus');
  const endsAt = endOf(offer, 'end_date');
  if (id === null || pricePerHourCents === null || gpuCount === null || endsAt === null) return undefined;
  const host = numberField(offer, 'machine_id');
  const terms = { offerId: String(id), pricePerHourCents, gpuCount, endsAt };
  return host === null ? terms : { ...terms, host: String(host) };
}

function isSold(offer: Fields, gpuCount: number): boolean {
  const counts: readonly number[] = catalogLimits.gpuCounts;
  return counts.includes(gpuCount) && isTrafficCheap(offer);
}

/** Tells whether traffic costs nothing both ways, or next to nothing. What is not told is not cheap. */
export function isTrafficCheap(offer: Fields): boolean {
  const usdPerHour = numberField(offer, 'dph_total') ?? 0;
  const [up, down] = ['inet_up', 'inet_down'].map((way) => {
    const usdPerGb = numberField(offer, `${way}_cost`);
    if (usdPerGb === null || usdPerGb < 0) return Infinity;
    // A link whose speed is not told may be of any speed.
    const gbPerHour = ((numberField(offer, way) ?? Infinity) * 3_600) / 1_000;
    return usdPerGb === 0 ? 0 : usdPerGb * gbPerHour;
  });
  const traffic = (up ?? Infinity) + (down ?? Infinity);
  return traffic === 0 || traffic < MOST_TRAFFIC_SHARE * usdPerHour;
}

function modelOf(offer: Fields, odd: (oddity: Oddity) => void): GpuModel | undefined {
  const name = textField(offer, 'gpu_name') ?? '?';
  // Usable memory per GPU, in MiB.
  const vramGb = Math.round((numberField(offer, 'gpu_ram') ?? 0) / 1_024);
  const gpu = findGpuModel('vast', { name, vramGb });
  if (gpu === undefined) odd({ kind: 'unknown_gpu', subject: `${name} ${vramGb} GB` });
  return gpu;
}

function placeOf(
  offer: Fields,
  odd: (oddity: Oddity) => void,
): Pick<Offer, 'region' | 'regionCode'> | undefined {
  const region = textField(offer, 'geolocation') ?? '?';
  const regionCode = findCountry('vast', region, region);
  if (regionCode === undefined) odd({ kind: 'unknown_region', subject: region });
  return regionCode === undefined ? undefined : { region, regionCode };
}

/** Reads the instant at which a contract ends, which comes in seconds; null when it is not told, or in no such unit. */
function endOf(fields: Fields, name: string): Date | null {
  const seconds = numberField(fields, name);
  return dateOrNull(new Date(Math.floor((seconds ?? NaN) * 1_000)));
}

/** Vast does not tell the socket, but the names of products that are sold with several do. */
function interconnectOf({ model }: GpuModel): string {
  return /_(SXM|PCIE|NVL)_/.exec(model)?.[1]?.toLowerCase() ?? 'unknown';
}
