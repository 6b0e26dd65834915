import { textWords, type TextWord } from '../../texts/words.js';
import { gpuCounts, type GpuCount } from './gpu-counts.js';

/** The orders in which families may stand. */
export const familySorts = ['price', 'memory', 'offers', 'name'] as const;
export type FamilySort = (typeof familySorts)[number];

/** What the address of the list of families tells: its filters. */
export interface RentSearch {
  /** A part of a family's name. */
  readonly q?: string;
  readonly gpus?: GpuCount;
  /** The memory of one GPU at least, in GB. */
  readonly vram?: number;
  /** Virtual CPUs of the machine at least. */
  readonly cpus?: number;
  /** Memory of the machine beside its GPUs at least, in GB. */
  readonly ram?: number;
  /** Disk at least, in GB. */
  readonly disk?: number;
  /** Cents an hour at most. */
  readonly max?: number;
  /** A country, or one of us, eu and apac. */
  readonly region?: string;
  readonly sort?: FamilySort;
}

/**
 * What the address of one family tells: the choices of the form, so that whoever leaves for money comes back to them.
 * Notes are none of them: they may be long and private, and addresses stand in histories and logs. They are written on
 * the rental's page.
 */
export interface FamilySearch extends Omit<Words, 'notes'> {
  readonly gpus?: GpuCount;
  readonly region?: string;
  /** Cents an hour at most. */
  readonly max?: number;
  readonly template?: string;
  /** Hours after which it stops. */
  readonly hours?: number;
  /** Cents that it may cost. */
  readonly spend?: number;
  /** Minutes of idleness after which it stops. */
  readonly idle?: number;
  /** It stops so even while somebody is logged in. */
  readonly ignoreSessions?: true;
  /** Its use is to be told, whoever provides it. */
  readonly telemetry?: true;
  /** The ids of the SSH keys that open it; without it all do. */
  readonly keys?: readonly string[];
}

/** What the renter says about the rental in their own words. */
type Words = Readonly<Partial<Record<TextWord, string>>> & {
  readonly labels?: Readonly<Record<string, string>>;
};

type Search = Readonly<Record<string, unknown>>;

/** Reads the filters of the address; what is none of them is left out. */
export function readRentSearch(search: Search): RentSearch {
  const q = textOf(search['q']);
  const gpus = gpuCounts.find((count) => count === search['gpus']);
  const max = wholeNumberOf(search['max']);
  const region = textOf(search['region']);
  const sort = familySorts.find((one) => one === search['sort']);
  return {
    ...(q !== undefined && { q }),
    ...(gpus !== undefined && { gpus }),
    ...leastOf(search),
    ...(max !== undefined && { max }),
    ...(region !== undefined && { region }),
    ...(sort !== undefined && sort !== 'price' && { sort }),
  };
}

/** What a machine may be asked to have at least. */
export const leasts = ['vram', 'cpus', 'ram', 'disk'] as const;
export type Least = (typeof leasts)[number];

function leastOf(search: Search): Pick<RentSearch, Least> {
  const given = leasts.map((least) => [least, wholeNumberOf(search[least])] as const);
  return Object.fromEntries(given.filter(([, amount]) => amount !== undefined));
}

/** Reads the choices of the address; what is none of them is left out. */
export function readFamilySearch(search: Search): FamilySearch {
  const { gpus, max, region } = readRentSearch(search);
  const template = textOf(search['template']);
  const hours = positiveOf(search['hours']);
  const spend = wholeNumberOf(search['spend']);
  const keys = idsOf(search['keys']);
  const { name, labels } = readWords(search);
  return {
    ...(gpus !== undefined && { gpus }),
    ...(region !== undefined && { region }),
    ...(max !== undefined && { max }),
    ...(template !== undefined && { template }),
    ...(name !== undefined && { name }),
    ...(labels !== undefined && { labels }),
    ...(hours !== undefined && { hours }),
    ...(spend !== undefined && { spend }),
    ...idleOf(search),
    ...(keys !== undefined && { keys }),
  };
}

function idleOf(search: Search): Pick<FamilySearch, 'idle' | 'ignoreSessions' | 'telemetry'> {
  const idle = wholeNumberOf(search['idle']);
  return {
    ...(idle !== undefined && { idle }),
    ...(idle !== undefined && search['ignoreSessions'] === true && { ignoreSessions: true }),
    ...(search['telemetry'] === true && { telemetry: true }),
  };
}

/** Reads the renter's own words, of the address, a form or a rental; what is none of them is left out. */
export function readWords(given: object): Words {
  const search = given as Search;
  const texts = textWords.map((word) => [word, textOf(search[word])] as const);
  const labels = labelsOf(search['labels']);
  return {
    ...Object.fromEntries(texts.filter(([, text]) => text !== undefined)),
    ...(labels !== undefined && { labels }),
  };
}

/** A text; addresses show one of digits alone as a number. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'number') return value.toString();
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function positiveOf(value: unknown): number | undefined {
  return typeof value === 'number' && value > 0 && Number.isFinite(value) ? value : undefined;
}

function wholeNumberOf(value: unknown): number | undefined {
  const number = positiveOf(value);
  return Number.isSafeInteger(number) ? number : undefined;
}

function labelsOf(value: unknown): Readonly<Record<string, string>> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const pairs = Object.entries(value).filter((pair): pair is [string, string] => typeof pair[1] === 'string');
  return pairs.length === 0 ? undefined : Object.fromEntries(pairs);
}

function idsOf(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.filter((id): id is string => typeof id === 'string');
}
