import { catalogLimits } from '../../../domain/catalog/limits.js';
import { templates } from '../../../domain/catalog/templates.js';
import { ownSoftwareId } from '../../../domain/rentals/software.js';
import { findOurPod, type StatusWords } from '../listed-pod.js';
import { findGpuModel, type GpuModel } from '../offers/gpu-models.js';
import { findCountry } from '../offers/regions.js';
import { shadeformTemplates } from '../offers/templates.js';
import { wholeOrNull } from '../offers/machine-facts.js';
import type { MachineFacts, Oddity, Offer, Pod, StartId } from '../provider.js';
import { fieldsOf, findList, numberField, textField, type Fields } from '../upstream/fields.js';

/** The key of the tag in which a machine tells its attempt; its name is the same text. */
export const TAG_KEY = 'gpu-rental';

const WORDS: StatusWords = {
  statuses: new Map([
    ['booting', 'pending'],
    ['active', 'active'],
    // It may come back, and what runs there may run on.
    ['unhealthy', 'pending'],
    ['terminating', 'ending'],
    ['preempted', 'lost'],
  ]),
  gone: 'terminated',
};

/** Makes the id of an offer, `type/region`: the parts of a launch. */
export function offerIdOf(type: string, region: string): string {
  return `${type}/${region}`;
}

/** The inverse of offerIdOf; undefined for a text that is none. */
export function findOfferParts(offerId: string): { type: string; region: string } | undefined {
  const [type, region, ...rest] = offerId.split('/');
  return type && region && rest.length === 0 ? { type, region } : undefined;
}

/** Reads one value of `data`: an offer for each region that has it now. */
export function readOffers(value: unknown, odd: (oddity: Oddity) => void): Offer[] {
  const item = fieldsOf(value);
  const type = fieldsOf(item['instance_type']);
  const name = textField(type, 'name');
  const pricePerHourCents = priceCentsOf(type);
  const gpuCount = numberField(fieldsOf(type['specs']), 'gpus');
  if (name === null || pricePerHourCents === null || gpuCount === null) {
    odd({ kind: 'malformed', subject: `instance type ${name ?? '?'}` });
    return [];
  }
  const counts: readonly number[] = catalogLimits.gpuCounts;
  // Types without a GPU are sold too.
  if (!counts.includes(gpuCount)) return [];
  const gpu = modelOf(type, odd);
  if (gpu === undefined) return [];
  const { interconnect, ...model } = gpu;
  const machine = machineOf(fieldsOf(type['specs']));
  return (findList(item, 'regions_with_capacity_available') ?? []).flatMap((each) => {
    const place = placeOf(fieldsOf(each), odd);
    if (place === undefined) return [];
    const { code, ...region } = place;
    const what = { ...model, gpuCount, pricePerHourCents, interconnect, machine };
    return [{ offerId: offerIdOf(name, code), ...what, ...region, templates: templatesOf(model) }];
  });
}

function machineOf(specs: Fields): MachineFacts {
  return {
    vcpus: wholeOrNull(numberField(specs, 'vcpus')),
    memoryGb: wholeOrNull(numberField(specs, 'memory_gib')),
    diskGb: wholeOrNull(numberField(specs, 'storage_gib')),
  };
}

/** A GPU as Lambda describes it: "H100 (80 GB SXM5)", "GH200 (96 GB)". */
const DESCRIPTION = /^(.{1,60}?) \((\d{1,4}) GB(?: ([A-Za-z0-9]{1,10}))?\)$/;

function modelOf(
  type: Fields,
  odd: (oddity: Oddity) => void,
): (GpuModel & { interconnect: string }) | undefined {
  const description = textField(type, 'gpu_description') ?? '?';
  const [, name = '', gb = '', socket = 'unknown'] = DESCRIPTION.exec(description) ?? [];
  const interconnect = socket.toLowerCase();
  const gpu = findGpuModel('lambda', { name, interconnect, vramGb: Number(gb) });
  if (gpu === undefined) odd({ kind: 'unknown_gpu', subject: description });
  return gpu && { ...gpu, interconnect };
}

function placeOf(
  region: Fields,
  odd: (oddity: Oddity) => void,
): (Pick<Offer, 'region' | 'regionCode'> & { code: string }) | undefined {
  const code = textField(region, 'name');
  if (code === null) return undefined;
  const label = textField(region, 'description') ?? code;
  const regionCode = findCountry('lambda', code, label);
  if (regionCode === undefined) odd({ kind: 'unknown_region', subject: `${code} (${label})` });
  return regionCode === undefined ? undefined : { code, region: label, regionCode };
}

/** The images of the containers are made for x86 alone, and a GH200 has an ARM processor. */
function templatesOf({ model }: GpuModel): StartId[] {
  const all = templates.map(({ id }) => id);
  const fitting = model === 'GH200' ? all.filter((id) => shadeformTemplates[id].container === null) : all;
  // Each machine runs scripts.
  return [...fitting, ownSoftwareId];
}

/** Reads `price_cents_per_hour`, for the whole machine. null when it is missing: nothing is given away. */
function priceCentsOf(type: Fields): number | null {
  const cents = numberField(type, 'price_cents_per_hour');
  return cents === null || cents <= 0 ? null : Math.ceil(cents);
}

/** Reads one instance; undefined for a pod that is gone, or is not ours. */
export function findPod(value: unknown, tagPrefix: string, odd: (oddity: Oddity) => void): Pod | undefined {
  const instance = fieldsOf(value);
  const tags = (findList(instance, 'tags') ?? []).map(fieldsOf);
  const ours = tags.filter((tag) => textField(tag, 'key') === TAG_KEY);
  const host = textField(instance, 'ip');
  const listed = {
    podId: textField(instance, 'id'),
    names: [...ours, { value: instance['name'] }].map((tag) => textField(tag, 'value') ?? ''),
    upstreamStatus: textField(instance, 'status'),
    host,
    // The documented API tells no port: it is always 22. A stand-in whose machines share an address tells theirs.
    port: host === null ? null : (numberField(instance, 'ssh_port') ?? 22),
    username: 'ubuntu',
    pricePerHourCents: priceCentsOf(fieldsOf(instance['instance_type'])),
  };
  return findOurPod(listed, WORDS, tagPrefix, odd);
}
