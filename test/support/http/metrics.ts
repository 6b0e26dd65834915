/** One line of Prometheus' text format. */
export interface ScrapedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Scraped {
  readonly samples: readonly ScrapedSample[];
  /** The value of the one series with these labels among others; undefined when there is none. */
  get(name: string, labels?: Readonly<Record<string, string>>): number | undefined;
  /** The sum of all series with these labels. */
  sum(name: string, labels?: Readonly<Record<string, string>>): number;
}

/** Parses the text that a target of Prometheus serves. */
export function readMetrics(text: string): Scraped {
  const samples = text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map(readSample);
  const find = (name: string, labels: Readonly<Record<string, string>>) =>
    samples.filter(
      (sample) =>
        sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
    );
  return {
    samples,
    get: (name, labels = {}) => find(name, labels)[0]?.value,
    sum: (name, labels = {}) => find(name, labels).reduce((sum, { value }) => sum + value, 0),
  };
}

function readSample(line: string): ScrapedSample {
  const [, name, labels = '', value] = /^([\w:]+)(?:\{(.*)\})? (\S+)/.exec(line) ?? [];
  if (name === undefined || value === undefined) throw new Error(`not a sample: ${line}`);
  const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(
    ([, key, text]) => [key!, text!] as const,
  );
  return { name, labels: Object.fromEntries(pairs), value: numberOf(value) };
}

function numberOf(text: string): number {
  if (text === '+Inf') return Infinity;
  return text === '-Inf' ? -Infinity : Number(text);
}
