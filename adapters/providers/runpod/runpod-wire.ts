import { dateField, findList, fieldsOf, numberField, textField, type Fields } from '../upstream/fields.js';
import { findGpuModel } from '../offers/gpu-models.js';
import { findOurPod, type StatusWords } from '../listed-pod.js';
import { centsOfUsd } from '../offers/prices.js';
import type { Oddity, Offer, Pod } from '../provider.js';
import { findCountry } from '../offers/regions.js';
import { meanOf, mostOf, noUse, type ListedUse } from '../../../domain/machines/telemetry.js';
import { portsOf } from './runpod-software.js';

/** RunPod's own data centers. The other tier is private people's machines, which we don't sell. */
export const runpodCloud = 'SECURE';

const WORDS: StatusWords = {
  statuses: new Map([
    ['PROVISIONING', 'pending'],
    ['STARTING', 'pending'],
    ['RUNNING', 'active'],
    ['EXITED', 'lost'],
    ['ERROR', 'lost'],
  ]),
  gone: 'TERMINATED',
};

/** Makes the id of an offer, `cloud/gpu/count/data center`: the parts of a create. */
export function offerIdOf(gpuId: string, gpuCount: number, dataCenterId: string): string {
  return `${runpodCloud}/${gpuId}/${gpuCount}/${dataCenterId}`;
}

/** The inverse of offerIdOf; undefined for a text that is none. */
export function findOfferParts(
  offerId: string,
): { gpuId: string; gpuCount: number; dataCenterId: string } | undefined {
  const [cloud, gpuId, count = '', dataCenterId, ...rest] = offerId.split('/');
  if (cloud !== runpodCloud || !gpuId || !/^[1-9]\d*$/.test(count) || !dataCenterId) return undefined;
  return rest.length > 0 ? undefined : { gpuId, gpuCount: Number(count), dataCenterId };
}

/**
 * Reads one element of `gpus`, as listed for a count of GPUs: an offer for each data center that can start a pod with
 * that count.
 */
export function readOffers(value: unknown, gpuCount: number, odd: (oddity: Oddity) => void): Offer[] {
  const gpu = fieldsOf(value);
  const places = (findList(gpu, 'dataCenters') ?? []).map(fieldsOf).filter(isAvailable);
  const most = numberField(fieldsOf(gpu['maxCount']), 'secure') ?? 0;
  // Skips what is not available: the list names every product that RunPod ever had.
  if (places.length === 0 || gpuCount > most) return [];
  const gpuId = textField(gpu, 'id');
  const pricePerHourCents = priceOf(fieldsOf(gpu['price']), 'secure', gpuCount);
  if (gpuId === null || pricePerHourCents === null) {
    odd({ kind: 'malformed', subject: `gpu ${gpuId ?? '?'}` });
    return [];
  }
  const vramGb = numberField(gpu, 'memory') ?? 0;
  const model = findGpuModel('runpod', { name: gpuId, vramGb });
  if (model === undefined) {
    odd({ kind: 'unknown_gpu', subject: `${gpuId} ${vramGb} GB` });
    return [];
  }
  const interconnect = interconnectOf(model.model);
  const what = { ...model, gpuCount, pricePerHourCents, interconnect };
  return places.flatMap((place) => placed(place, gpuId, what, odd));
}

function placed(
  place: Fields,
  gpuId: string,
  what: Omit<Offer, 'offerId' | 'region' | 'regionCode'>,
  odd: (oddity: Oddity) => void,
): Offer[] {
  const dataCenterId = textField(place, 'id');
  if (dataCenterId === null) {
    odd({ kind: 'malformed', subject: `data center without an id: ${gpuId}` });
    return [];
  }
  const region = textField(place, 'name') ?? dataCenterId;
  const regionCode = findCountry('runpod', dataCenterId, region);
  if (regionCode === undefined) {
    odd({ kind: 'unknown_region', subject: `${dataCenterId} (${region})` });
    return [];
  }
  return [{ offerId: offerIdOf(gpuId, what.gpuCount, dataCenterId), ...what, region, regionCode }];
}

/** Tells whether a stock is named and not NONE. The amount changes too fast to be read. */
function isAvailable(place: Fields): boolean {
  const stock = textField(place, 'availability');
  return stock !== null && stock !== 'NONE';
}

/** Returns a price in USD per hour times a count; null when there is none. */
function priceOf(fields: Fields, name: string, count: number): number | null {
  const usd = numberField(fields, name);
  return usd === null ? null : centsOfUsd(usd * count);
}

/** RunPod does not tell the socket, but the names of products that are sold with several do. */
function interconnectOf(model: string): string {
  return /_(SXM|PCIE|NVL)_/.exec(model)?.[1]?.toLowerCase() ?? 'unknown';
}

/** Reads `cost`, USD per hour for the whole pod. null when it is 0, as it is for a pod that does not run. */
export function priceCentsOf(pod: Fields): number | null {
  return priceOf(pod, 'cost', 1);
}

/** Reads one element of `pods`; undefined for a pod that is gone, or is not ours. */
export function findPod(
  value: unknown,
  { tagPrefix, proxyUrl }: { readonly tagPrefix: string; readonly proxyUrl: string },
  odd: (oddity: Oddity) => void,
): Pod | undefined {
  const pod = fieldsOf(value);
  const listed = {
    podId: textField(pod, 'id'),
    names: [textField(pod, 'name') ?? ''],
    upstreamStatus: textField(pod, 'status'),
    ...addressOf(pod),
    pricePerHourCents: priceCentsOf(pod),
    ports: portsOf(pod, proxyUrl),
    use: useOf(pod),
    startedAt: dateField(pod, 'startedAt'),
  };
  return findOurPod(listed, WORDS, tagPrefix, odd);
}

/** Reads the published port of the pod's own daemon. RunPod's proxy knows the account's keys only, not the renter's. */
function addressOf(pod: Fields): Pick<Pod, 'host' | 'port' | 'username'> {
  const direct = fieldsOf(fieldsOf(pod['ssh'])['direct']);
  const host = textField(direct, 'host');
  const port = numberField(direct, 'port');
  if (host === null || port === null) return { host: null, port: null, username: null };
  return { host, port, username: textField(direct, 'username') };
}

/**
 * Reads `runtime`, which only a running pod has. A GPU that it leaves out, or whose use it does not tell, such as a
 * slice of one, may be in use. Without an uptime nobody knows how old a report is.
 */
function useOf(pod: Fields): ListedUse | undefined {
  const runtime = fieldsOf(pod['runtime']);
  const gpus = findList(runtime, 'gpus')?.map(fieldsOf);
  const uptime = numberField(runtime, 'uptime');
  if (gpus === undefined || uptime === null) return undefined;
  const count = numberField(fieldsOf(pod['gpu']), 'count') ?? Infinity;
  const utils = gpus.map((gpu) => numberField(gpu, 'util'));
  return {
    ...noUse,
    report: uptime,
    gpuPercent: meanOf(utils),
    busiestGpuPercent: gpus.length < count ? null : mostOf(utils),
    gpuMemoryPercent: meanOf(gpus.map((gpu) => numberField(gpu, 'memoryUtil'))),
    cpuPercent: numberField(fieldsOf(runtime['cpu']), 'util'),
    memoryPercent: numberField(fieldsOf(runtime['memory']), 'util'),
  };
}
