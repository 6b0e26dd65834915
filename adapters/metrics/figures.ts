import { Gauge, type Registry } from 'prom-client';
import type { Logger } from 'pino';
import type { Database, Transaction } from '../postgres/database.js';
import { metricPrefix } from './registry.js';
import { within } from '../within.js';

/** One value of one metric, with the labels that the metric names. */
export interface Sample {
  /** The metric's name without the prefix. */
  readonly metric: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Figures that are read together, by one look at the database. */
export interface FigureGroup {
  /** The name by which operators know it when it can't be read. */
  readonly name: string;
  /** Its metrics, named without the prefix, with units last, each with its meaning. */
  readonly metrics: Readonly<Record<string, { readonly help: string; readonly labels?: readonly string[] }>>;
  /** Reads them in a transaction that may only read, and that has a limit. */
  read(trx: Transaction): Promise<Sample[]>;
}

export interface FigureOptions {
  /** A pool of its own, so that the figures can tell when all others are used up. */
  readonly db: Database;
  readonly log: Logger;
  /** How long a reading is shown again, however many ask. Default: 5 s. */
  readonly cacheMs?: number;
  /** The limit of one group. Default: 3 s, below Prometheus' 10 s for the whole scrape. */
  readonly limitMs?: number;
}

/**
 * Shows groups of figures that are read on request. A group that can't be read shows no value at all, never zero nor an
 * old one: `figures_failed` is 1 for it, and `figures_read_timestamp_seconds` says since when.
 * @returns brings the figures up to date; to be awaited before the registry is read
 */
export function exposeFigures(
  registry: Registry,
  groups: readonly FigureGroup[],
  options: FigureOptions,
): () => Promise<void> {
  const shown = groups.map((group) => new ShownGroup(group, registry, options));
  const failed = new Gauge({
    name: `${metricPrefix}figures_failed`,
    help: '1 for a group of figures that could not be read at the last try: its metrics are missing, not zero.',
    labelNames: ['figures'],
    registers: [registry],
  });
  const readAt = new Gauge({
    name: `${metricPrefix}figures_read_timestamp_seconds`,
    help: 'When a group of figures was last read with success, in seconds since 1970.',
    labelNames: ['figures'],
    registers: [registry],
  });
  const refresh = async (): Promise<void> => {
    await Promise.all(shown.map((group) => group.refresh()));
    for (const { name, state } of shown) {
      failed.set({ figures: name }, state.failed ? 1 : 0);
      if (state.readAtMs !== null) readAt.set({ figures: name }, state.readAtMs / 1_000);
    }
  };
  return shareWhileRunning(refresh);
}

class ShownGroup {
  readonly state: { failed: boolean; readAtMs: number | null; triedAtMs: number } = {
    failed: true,
    readAtMs: null,
    triedAtMs: -Infinity,
  };
  readonly #gauges: ReadonlyMap<string, Gauge>;

  constructor(
    private readonly group: FigureGroup,
    registry: Registry,
    private readonly options: FigureOptions,
  ) {
    this.#gauges = new Map(
      Object.entries(group.metrics).map(([metric, { help, labels = [] }]) => [
        metric,
        new Gauge({ name: metricPrefix + metric, help, labelNames: [...labels], registers: [registry] }),
      ]),
    );
    // A gauge without labels begins with a zero that was never read.
    this.#show([]);
  }

  get name(): string {
    return this.group.name;
  }

  async refresh(): Promise<void> {
    const { cacheMs = 5_000, log } = this.options;
    if (performance.now() - this.state.triedAtMs < cacheMs) return;
    try {
      this.#show(await this.#read());
      Object.assign(this.state, { failed: false, readAtMs: Date.now() });
    } catch (error) {
      this.#show([]);
      this.state.failed = true;
      log.warn({ err: error, figures: this.name }, 'these figures could not be read');
    }
    this.state.triedAtMs = performance.now();
  }

  #show(samples: readonly Sample[]): void {
    for (const [metric, gauge] of this.#gauges) {
      gauge.reset();
      if (!this.group.metrics[metric]?.labels) gauge.remove();
    }
    for (const { metric, labels = {}, value } of samples) {
      const gauge = this.#gauges.get(metric);
      if (!gauge) throw new Error(`the figures ${this.name} name no metric ${metric}`);
      gauge.set(labels, value);
    }
  }

  /** The server ends a slow statement; the second limit is for a server that does not answer at all. */
  async #read(): Promise<Sample[]> {
    const { db, limitMs = 3_000 } = this.options;
    const reading = db.transaction(
      async (trx) => {
        await trx.raw(`set local statement_timeout = ${Math.round(limitMs * 0.8)}`);
        return this.group.read(trx);
      },
      { readOnly: true },
    );
    return within(limitMs, reading);
  }
}

/** Gives simultaneous callers one answer. */
function shareWhileRunning(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => {
    running ??= work().finally(() => (running = undefined));
    return running;
  };
}
