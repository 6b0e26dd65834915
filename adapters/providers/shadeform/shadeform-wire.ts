import { catalogLimits } from '../../../domain/catalog/limits.js';
import { findList, fieldsOf, numberField, textField, textsField, type Fields } from '../upstream/fields.js';
import { findGpuModel } from '../offers/gpu-models.js';
import { findOurPod, type StatusWords } from '../listed-pod.js';
import { wholeOrNull } from '../offers/machine-facts.js';
import type { MachineFacts, Oddity, Offer, Pod } from '../provider.js';
import { findCountry } from '../offers/regions.js';
import { listFitting } from '../offers/templates.js';

/** Only these counts can be rented (spec: Limits). */
const GPU_COUNTS: readonly number[] = catalogLimits.gpuCounts;

const WORDS: StatusWords = {
  statuses: new Map([
    ['creating', 'pending'],
    ['pending_provider', 'pending'],
    ['pending', 'pending'],
    ['active', 'active'],
    ['error', 'lost'],
    ['deleting', 'ending'],
  ]),
  gone: 'deleted',
};

/** An offer with the operating systems that can be asked for with it. */
export interface WireOffer {
  readonly offer: Offer;
  readonly osOptions: readonly string[];
}

/**
 * Makes the id of an offer, `cloud/type/region`: by Shadeform's documentation it names one kind of machine in one
 * place.
 */
export function offerIdOf(cloud: string, type: string, region: string): string {
  return `${cloud}/${type}/${region}`;
}

/** The inverse of offerIdOf; undefined for a text that is none. */
export function findOfferParts(offerId: string): { cloud: string; type: string; region: string } | undefined {
  const [cloud, type, region, ...rest] = offerId.split('/');
  if (!cloud || !type || !region || rest.length > 0) return undefined;
  return { cloud, type, region };
}

/** Reads one element of `instance_types`: an offer for each region where it is available now. */
export function readOffers(value: unknown, odd: (oddity: Oddity) => void): WireOffer[] {
  const type = fieldsOf(value);
  const cloud = textField(type, 'cloud');
  const name = textField(type, 'shade_instance_type');
  const machine = findMachine(type, `${cloud ?? '?'}/${name ?? '?'}`, odd);
  if (cloud === null || name === null || machine === undefined) return [];
  const osOptions = osOptionsOf(type);
  const fitting = listFitting(osOptions, textField(type, 'deployment_type'));
  if (fitting.length === 0) {
    odd({ kind: 'unfit_system', subject: `${cloud}/${name}: ${osOptions.join(', ')}` });
    return [];
  }
  const what = { ...machine, maxBootMs: maxBootMsOf(type), templates: fitting, machine: restOf(type) };
  return regionsOf(type, cloud, odd).map(({ code, label, country }) => ({
    offer: { offerId: offerIdOf(cloud, name, code), ...what, region: label, regionCode: country },
    osOptions,
  }));
}

/** Reads `os_options` of an element of `instance_types`. */
export function osOptionsOf(type: Fields): string[] {
  return textsField(fieldsOf(type['configuration']), 'os_options');
}

function restOf(type: Fields): MachineFacts {
  const configuration = fieldsOf(type['configuration']);
  return {
    vcpus: wholeOrNull(numberField(configuration, 'vcpus')),
    memoryGb: wholeOrNull(numberField(configuration, 'memory_in_gb')),
    diskGb: wholeOrNull(numberField(configuration, 'storage_in_gb')),
  };
}

/** A boot time of days is a fault, and nobody waits for it. */
const MAX_BOOT_SECONDS = 86_400;

function maxBootMsOf(type: Fields): number | null {
  const seconds = numberField(fieldsOf(type['boot_time']), 'max_boot_in_sec');
  return seconds === null || seconds <= 0 || seconds > MAX_BOOT_SECONDS ? null : Math.ceil(seconds * 1_000);
}

/** Reads the machine of an offer, whatever its region; undefined, with an oddity, when we can't sell it. */
function findMachine(
  type: Fields,
  subject: string,
  odd: (oddity: Oddity) => void,
): Omit<Offer, 'offerId' | 'region' | 'regionCode'> | undefined {
  const configuration = fieldsOf(type['configuration']);
  const pricePerHourCents = priceCentsOf(type);
  const gpuCount = numberField(configuration, 'num_gpus');
  const gpuType = textField(configuration, 'gpu_type');
  const vramGb = numberField(configuration, 'vram_per_gpu_in_gb') ?? 0;
  const interconnect = textField(configuration, 'interconnect') ?? 'unknown';
  if (pricePerHourCents === null || gpuCount === null || gpuType === null) {
    odd({ kind: 'malformed', subject });
    return undefined;
  }
  if (!GPU_COUNTS.includes(gpuCount)) {
    odd({ kind: 'unusable_count', subject });
    return undefined;
  }
  const gpu = findGpuModel('shadeform', { name: gpuType, interconnect, vramGb });
  if (gpu === undefined) odd({ kind: 'unknown_gpu', subject: `${gpuType} ${interconnect} ${vramGb} GB` });
  return gpu && { ...gpu, gpuCount, pricePerHourCents, interconnect };
}

function regionsOf(
  type: Fields,
  cloud: string,
  odd: (oddity: Oddity) => void,
): { code: string; label: string; country: string }[] {
  return (findList(type, 'availability') ?? []).flatMap((value) => {
    const place = fieldsOf(value);
    const code = textField(place, 'region');
    if (place['available'] !== true || code === null) return [];
    const label = textField(place, 'display_name') ?? code;
    const country = findCountry(cloud, code, label);
    if (country === undefined) odd({ kind: 'unknown_region', subject: `${cloud}/${code} (${label})` });
    return country === undefined ? [] : [{ code, label, country }];
  });
}

/**
 * Reads `hourly_price`: cents for the whole machine, fractions rounded up (decision 13, "Live listings"). null when it
 * is missing or not above zero, because a price of nothing is a fault and no gift.
 */
export function priceCentsOf(fields: Fields): number | null {
  const price = numberField(fields, 'hourly_price');
  return price === null || price <= 0 ? null : Math.ceil(price);
}

/** Reads one element of `instances`; undefined for a pod that is gone, or is not ours. */
export function findPod(value: unknown, tagPrefix: string, odd: (oddity: Oddity) => void): Pod | undefined {
  const instance = fieldsOf(value);
  const listed = {
    podId: textField(instance, 'id'),
    names: [...textsField(instance, 'tags'), textField(instance, 'name') ?? ''],
    upstreamStatus: textField(instance, 'status'),
    ...addressOf(instance),
    pricePerHourCents: priceCentsOf(instance),
  };
  return findOurPod(listed, WORDS, tagPrefix, odd);
}

/** Reads the address once there is one; the upstream leaves the usual port out. */
function addressOf(instance: Fields): Pick<Pod, 'host' | 'port' | 'username'> {
  const host = textField(instance, 'ip');
  return {
    host,
    port: host === null ? null : (numberField(instance, 'ssh_port') ?? 22),
    username: textField(instance, 'ssh_user'),
  };
}
