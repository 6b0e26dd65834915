import { findProduct, memoryMibOf } from './gpu-products.js';

/** What a machine tells of one thing: it is as rented, it is not told, or it is not as rented. Only `bad` refuses. */
export type Told = 'ok' | 'not_told' | 'bad';

const aspects = ['model', 'count', 'memory', 'ecc', 'driver'] as const;
export type ProofAspect = (typeof aspects)[number];

/** What a machine was rented as. */
export interface RentedGpus {
  /** As the catalog names it, such as H100_SXM_80GB. */
  readonly model: string;
  readonly gpuCount: number;
}

export interface Proof {
  /** bad: some aspect is; ok: model, count and memory are; else not_told. */
  readonly verdict: Told;
  readonly aspects: Readonly<Record<ProofAspect, Told>>;
  /** A sentence for each aspect that is bad, in words of ours alone: what a machine says may be its renter's. */
  readonly faults: readonly string[];
}

/** What the proof script asks `nvidia-smi` for, in the order of a row's fields. */
export const proofFields = [
  'name',
  'memory.total',
  'ecc.errors.uncorrected.volatile.total',
  'driver_version',
  'mig.mode.current',
] as const;

/** The first words of a report, before how `nvidia-smi` ended: its exit code, `timeout` or `missing`. */
export const proofHeader = 'gpu-proof 1';

/** Less than this share of a model's memory is another product's, or a slice. What ECC takes is a sixteenth. */
const MEMORY_SHARE = 0.85;
/** A report has a row for each GPU, and some lines of trouble. */
const MOST_LINES = 64;

/** A field: what it says, or that it says nothing (`N/A`), or that the card does not answer (`ERR!`). */
type Field = { readonly kind: 'said'; readonly text: string } | { readonly kind: 'not_told' | 'broken' };

interface GpuRow {
  readonly name: Field;
  readonly memory: Field;
  readonly ecc: Field;
  readonly driver: Field;
  readonly isSliced: boolean;
}

interface Report {
  readonly ended: string;
  readonly rows: readonly GpuRow[];
  /** Lines in which `nvidia-smi` says that a card is gone. */
  readonly broken: number;
  readonly saysNone: boolean;
}

/**
 * A card that has failed: `ERR!` (a wedged card), and the bracketed words of a query's fields
 * (NVIDIA/open-gpu-kernel-modules#387, JosephKJ/OWOD#81).
 */
const BROKEN_FIELD = /\bERR!|GPU is lost|GPU requires reset/i;
/**
 * Fields that say nothing: `[N/A]` (ECC of a GeForce, memory under MIG, Syllo/nvtop#486), `[Not Supported]`,
 * `[Insufficient Permissions]`, `[Unknown Error]` (a driver's fault as often as a card's, netdata/netdata#15755).
 */
const SILENT_FIELD = /^(\[.*\]|N\/A|)$/;
/**
 * Whole lines: a card fell off the bus while it is still counted (NVIDIA/open-gpu-kernel-modules#387,
 * NVIDIA/dcgm-exporter#604).
 */
const BROKEN_LINE = /Unable to (determine|detect) the device handle|GPU is lost|fallen off the bus/i;
/** The driver runs and has no card (NVIDIA/nvidia-docker#933, pytorch/pytorch#167118). */
const NONE_LINE = /^No devices were found/i;

/**
 * Judges what a machine's proof script told against what was rented (decision 174, "Proof of machines"). What is not
 * understood is not told: an answer cut short, a driver that is not loaded yet, a missing program, a name that nobody
 * knows.
 */
export function judgeProof(body: string, rented: RentedGpus): Proof {
  const report = readReport(body);
  const memoryMib = memoryMibOf(rented.model);
  // Of a hanging program a part of the rows may be missing; of an unknown model nothing is known.
  if (report === undefined || report.ended === 'timeout' || memoryMib === undefined) return nothingTold;
  const cards = report.rows.map((row) => judgeRow(row, rented.model, memoryMib));
  const ours = bestOf(cards, rented.gpuCount);
  const found = {
    model: worst(ours.map(({ model }) => model)),
    count: countOf(report, rented.gpuCount),
    memory: worst(ours.map(({ memory }) => memory)),
    ecc: worst(ours.map(({ ecc }) => ecc)),
    driver: worst(ours.map(({ driver }) => driver)),
  };
  const wordsOf = faultWords(report, rented);
  return {
    verdict: verdictOf(found),
    aspects: found,
    faults: aspects.filter((aspect) => found[aspect] === 'bad').map((aspect) => wordsOf[aspect]),
  };
}

const nothingTold: Proof = {
  verdict: 'not_told',
  aspects: { model: 'not_told', count: 'not_told', memory: 'not_told', ecc: 'not_told', driver: 'not_told' },
  faults: [],
};

function readReport(body: string): Report | undefined {
  const [first = '', ...lines] = body.split('\n', MOST_LINES).map((line) => line.trim());
  const ended = first.startsWith(`${proofHeader} `) ? first.slice(proofHeader.length + 1) : undefined;
  if (ended === undefined || !/^(\d{1,3}|timeout|missing)$/.test(ended)) return undefined;
  return {
    ended,
    rows: lines.flatMap((line) => findRow(line) ?? []),
    broken: lines.filter((line) => BROKEN_LINE.test(line)).length,
    saysNone: lines.some((line) => NONE_LINE.test(line)),
  };
}

function findRow(line: string): GpuRow | undefined {
  const texts = line.split(',').map((text) => text.trim());
  if (texts.length !== proofFields.length || BROKEN_LINE.test(texts[0] ?? '')) return undefined;
  const [name, memory, ecc, driver, mig] = texts.map(fieldOf) as [Field, Field, Field, Field, Field];
  return { name, memory, ecc, driver, isSliced: mig.kind === 'said' && mig.text === 'Enabled' };
}

function fieldOf(text: string): Field {
  if (BROKEN_FIELD.test(text)) return { kind: 'broken' };
  return SILENT_FIELD.test(text) ? { kind: 'not_told' } : { kind: 'said', text };
}

/** @param judge true: as rented; false: not as rented; undefined: it tells nothing */
function saidAs(field: Field, judge: (text: string) => boolean | undefined): Told {
  if (field.kind !== 'said') return field.kind === 'broken' ? 'bad' : 'not_told';
  const fits = judge(field.text);
  if (fits === undefined) return 'not_told';
  return fits ? 'ok' : 'bad';
}

type Card = Omit<Proof['aspects'], 'count'>;

function judgeRow({ name, memory, ecc, driver, isSliced }: GpuRow, model: string, memoryMib: number): Card {
  return {
    model: saidAs(name, (text) => {
      const product = findProduct(text);
      return product && fitsModel(product.model, model);
    }),
    // What a slice tells is its own, or that of the whole card.
    memory: isSliced ? 'not_told' : memoryOf(memory, memoryMib),
    ecc: isSliced ? 'not_told' : eccOf(ecc),
    driver: saidAs(driver, (text) => /^\d{3}\.\d/.test(text) || undefined),
  };
}

/** A machine may show cards beside the rented ones, such as one for its screen: the best of all are the rented ones. */
function bestOf(cards: readonly Card[], gpuCount: number): Card[] {
  const rank = ({ model, memory, ecc, driver }: Card): number => {
    const bad = [model, memory, ecc, driver].filter((told) => told === 'bad').length;
    return 3 * bad + [model, memory].filter((told) => told === 'not_told').length;
  };
  return [...cards].sort((a, b) => rank(a) - rank(b)).slice(0, gpuCount);
}

/**
 * A card of the same product in a better socket is as good: lists mistake the socket. Better than SXM there is none.
 */
export function fitsModel(told: string | null, rented: string): boolean {
  if (told === rented) return true;
  const isSameChip = told !== null && chipOf(told) === chipOf(rented);
  return isSameChip && !rented.includes('_SXM');
}

function chipOf(model: string): string {
  return model.replace(/_(PCIE|SXM|NVL)_/, '_');
}

/** A program that failed may have left cards out of its rows: only one that ended well has counted. */
function countOf({ ended, rows, broken, saysNone }: Report, gpuCount: number): Told {
  if (saysNone || broken > 0) return 'bad';
  if (rows.length >= gpuCount) return 'ok';
  return ended === '0' ? 'bad' : 'not_told';
}

function memoryOf(field: Field, memoryMib: number): Told {
  return saidAs(field, (text) => {
    const mib = numberOf(text, / MiB$/);
    return mib === undefined ? undefined : mib >= memoryMib * MEMORY_SHARE;
  });
}

function eccOf(field: Field): Told {
  return saidAs(field, (text) => {
    const errors = numberOf(text);
    return errors === undefined ? undefined : errors === 0;
  });
}

function numberOf(text: string, unit = /$/): number | undefined {
  const digits = text.replace(unit, '');
  return /^\d{1,15}$/.test(digits) ? Number(digits) : undefined;
}

/** One that is bad makes all bad, and one that tells nothing leaves it open. */
function worst(told: readonly Told[]): Told {
  if (told.includes('bad')) return 'bad';
  return told.length === 0 || told.includes('not_told') ? 'not_told' : 'ok';
}

function verdictOf(found: Proof['aspects']): Told {
  if (Object.values(found).includes('bad')) return 'bad';
  const { model, count, memory } = found;
  return [model, count, memory].every((told) => told === 'ok') ? 'ok' : 'not_told';
}

function faultWords(
  { rows, saysNone, broken }: Report,
  { model, gpuCount }: RentedGpus,
): Record<ProofAspect, string> {
  const missing = `It shows ${saysNone ? 0 : rows.length} of ${gpuCount} GPUs.`;
  return {
    model: `It has another GPU than ${model}, or one that does not answer.`,
    count: broken > 0 && !saysNone ? 'A GPU of it does not answer.' : missing,
    memory: `A GPU of it has less memory than ${model}.`,
    ecc: 'A GPU of it has uncorrected memory errors.',
    driver: 'Its GPU driver does not answer.',
  };
}
