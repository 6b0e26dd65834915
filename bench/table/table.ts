import { goals, type Goal } from '../goals.js';
import type { Conditions, Figure, Reported } from '../report.js';
import type { Outcome } from './run.js';

const columns = ['figure', 'ours', 'floor or peer', 'ratio', 'goal', 'met'] as const;

/** The table of all figures in Markdown, with the conditions of the measurement below it. */
export function renderTable(outcomes: readonly Outcome[], all: readonly Goal[] = goals): string {
  const figures = outcomes.flatMap(({ reported }) => reported.flatMap((each) => each.figures));
  const rows = figures.map((figure) => rowOf(figure, goalsOf(figure, all)));
  const lines = [
    `| ${columns.join(' | ')} |`,
    '| :-- | --: | --: | --: | --: | :-- |',
    ...rows.map((cells) => `| ${cells.map(escape).join(' | ')} |`),
  ];
  return [lines.join('\n'), ...conditionsOf(outcomes), ...gapsOf(outcomes, figures, all)].join('\n\n');
}

const escape = (cell: string): string => cell.replaceAll('|', '\\|');

function goalsOf(figure: Figure, all: readonly Goal[]): Goal[] {
  return all.filter((goal) => goal.figure === figure.id);
}

function rowOf(figure: Figure, its: readonly Goal[]): string[] {
  const ratio = ratioOf(figure);
  const met = its.every((goal) => isMet(figure, goal));
  return [
    figure.what,
    amount(figure.ours, figure.unit),
    figure.peer === undefined ? '' : `${amount(figure.peer.value, figure.unit)} (${figure.peer.what})`,
    ratio === undefined ? '' : number(ratio),
    its.map((goal) => goalText(goal, figure)).join(', '),
    its.length === 0 ? '' : met ? 'yes' : '**no**',
  ];
}

/** Our value divided by the peer's; undefined without a peer, or where one of them is no number. */
function ratioOf({ ours, peer }: Figure): number | undefined {
  if (peer === undefined) return undefined;
  const ratio = ours / peer.value;
  return isNumber(ours) && isNumber(ratio) ? ratio : undefined;
}

// JSON has no NaN: what could not be measured comes as null.
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

/** Tells whether a figure keeps a goal. What was not measured keeps none. */
export function isMet(figure: Figure, goal: Goal): boolean {
  const value = goal.of === 'ours' ? figure.ours : ratioOf(figure);
  if (!isNumber(value)) return false;
  return value <= (goal.atMost ?? Infinity) && value >= (goal.atLeast ?? -Infinity);
}

function goalText({ of, atMost, atLeast }: Goal, { unit }: Figure): string {
  const sign = atMost === undefined ? '≥' : '≤';
  const value = atMost ?? atLeast ?? 0;
  return `${sign} ${of === 'ours' ? amount(value, unit) : `${number(value)} times`}`;
}

function amount(value: number, unit: string): string {
  if (!isNumber(value)) return 'not measured';
  return `${number(value)}${unit === '' || unit.startsWith('/') ? unit : ` ${unit}`}`;
}

/** Large numbers whole, small ones with three digits that count. */
function number(value: number): string {
  const digits = Math.abs(value) >= 100 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 3 };
  return value.toLocaleString('en-US', digits);
}

/** A sentence for each set of conditions, with the benchmarks that were measured under it. */
function conditionsOf(outcomes: readonly Outcome[]): string[] {
  const sets = new Map<string, { benches: Set<string>; all: Conditions[] }>();
  for (const { bench, commit, reported } of outcomes) {
    for (const { conditions } of reported) {
      const text = machineText(conditions, commit);
      const set = sets.get(text) ?? { benches: new Set(), all: [] };
      set.benches.add(bench);
      set.all.push(conditions);
      sets.set(text, set);
    }
  }
  return [...sets].map(([text, { benches, all }]) => {
    const load = range(all.map(({ loadBefore }) => String(loadBefore)));
    return `${[...benches].join(', ')}: ${text}${settingsText(all)}; load average before ${load}.`;
  });
}

function machineText({ date, cores, cpu, memoryGiB, node }: Conditions, commit: string): string {
  return [
    `${date}, commit ${commit}`,
    `${cores} cores of ${cpu}, ${memoryGiB} GiB`,
    `Node ${node.replace(/^v/, '')}`,
  ].join('; ');
}

/** The settings of the servers; one that differs, as what goes by the free disk does, as a range. */
function settingsText(all: readonly Conditions[]): string {
  const servers = all.map(({ postgres }) => postgres).filter((postgres) => postgres !== undefined);
  const [first] = servers;
  if (first === undefined) return '';
  const valuesOf = (name: string): string => range(servers.map((settings) => settings[name] ?? 'unknown'));
  const names = Object.keys(first).filter((name) => name !== 'server_version');
  const told = names.map((name) => `${name} ${valuesOf(name)}`);
  return `; PostgreSQL ${valuesOf('server_version')} with ${told.join(', ')}`;
}

/** One value, or the least and the greatest. */
function range(values: readonly string[]): string {
  const sorted = [...values].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  const [least = '', most = ''] = [sorted[0], sorted.at(-1)];
  return least === most ? least : `${least} to ${most}`;
}

/** What the table does not tell: the benchmarks that gave no figures, and the goals that none of these figures is of. */
function gapsOf(outcomes: readonly Outcome[], figures: readonly Figure[], all: readonly Goal[]): string[] {
  const gone = outcomes.flatMap(({ bench, ended, why }) =>
    ended === 'passed'
      ? []
      : [`- ${bench} ${ended === 'failed' ? '**failed**' : 'was left out'}: ${why ?? ''}`],
  );
  const measured = new Set(figures.map(({ id }) => id));
  const missing = [...new Set(all.map(({ figure }) => figure))].filter((id) => !measured.has(id));
  return [
    ...(gone.length === 0 ? [] : [gone.join('\n')]),
    ...(missing.length === 0
      ? []
      : [`Goals without a figure: ${missing.map((id) => `\`${id}\``).join(', ')}.`]),
  ];
}

/** Replaces the outcomes of before with those of now, benchmark by benchmark, in the given order. */
export function mergeOutcomes(
  before: readonly Outcome[],
  now: readonly Outcome[],
  order: readonly string[],
): Outcome[] {
  const byBench = new Map([...before, ...now].map((outcome) => [outcome.bench, outcome]));
  return order.flatMap((bench) => byBench.get(bench) ?? []);
}

/** The marks in bench/README.md between which the table stands. */
export const marks = {
  begin: '<!-- The table of bench:all begins. -->',
  end: '<!-- The table of bench:all ends. -->',
};

/**
 * Puts the table between the marks of a document.
 * @throws Error when it does not have both marks
 */
export function replaceBetweenMarks(document: string, table: string): string {
  const [begin, end] = [document.indexOf(marks.begin), document.indexOf(marks.end)];
  if (begin < 0 || end < begin) throw new Error(`The document lacks "${marks.begin}" or "${marks.end}".`);
  return `${document.slice(0, begin + marks.begin.length)}\n\n${table.trim()}\n\n${document.slice(end)}`;
}

/** What of a benchmark's outcome stands in the table, with the verdict, for machines. */
export interface Row extends Figure {
  readonly bench: string;
  readonly ratio: number | null;
  readonly goals: readonly Goal[];
  /** Null without a goal. */
  readonly met: boolean | null;
}

/** The rows of the table for machines. */
export function rowsOf(outcomes: readonly Outcome[], all: readonly Goal[] = goals): Row[] {
  const reported = outcomes.flatMap(({ bench, reported: lines }) =>
    lines.flatMap(({ figures }: Reported) => figures.map((figure) => ({ bench, figure }))),
  );
  return reported.map(({ bench, figure }) => {
    const its = goalsOf(figure, all);
    const met = its.length === 0 ? null : its.every((goal) => isMet(figure, goal));
    return { bench, ...figure, ratio: ratioOf(figure) ?? null, goals: its, met };
  });
}
