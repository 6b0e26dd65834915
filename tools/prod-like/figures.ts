/** The kinds of requests that are counted apart. */
const kinds = ['sign in', 'top up', 'create', 'poll', 'page', 'change', 'stop'] as const;

export type Kind = (typeof kinds)[number];

const changes: ReadonlySet<Kind> = new Set(['top up', 'create', 'change', 'stop']);

interface Sample {
  readonly kind: Kind;
  readonly elapsedMs: number;
  /** True while parts were being restarted. */
  readonly restarting: boolean;
}

/** Counts requests as clients see them, apart for the quiet time and for the time of restarts. */
export class Figures {
  /** The code that restarts parts sets it. */
  restarting = false;
  private readonly answers: Sample[] = [];
  /** By performance.now(). */
  private readonly served: { readonly sentAt: number; readonly servedAt: number }[] = [];
  private readonly tries: (Sample & { readonly status: number | undefined })[] = [];

  /** Counts one HTTP request. @param status undefined: its connection broke */
  tried(kind: Kind, elapsedMs: number, status: number | undefined): void {
    this.tries.push({ kind, elapsedMs, restarting: this.restarting, status });
    if (status === 200 && changes.has(kind)) this.changed(elapsedMs);
  }

  /** Notes a change that was served just now. @param elapsedMs since it was sent */
  changed(elapsedMs: number): void {
    const servedAt = performance.now();
    this.served.push({ sentAt: servedAt - elapsedMs, servedAt });
  }

  /** How long after an instant the first change was served that was sent after it, in milliseconds. */
  firstChangeAfter(at: number): number {
    const times = this.served.filter(({ sentAt }) => sentAt > at).map(({ servedAt }) => servedAt - at);
    return Math.min(...times);
  }

  /** Counts an answered request; its time includes all repetitions. */
  answered(kind: Kind, elapsedMs: number): void {
    this.answers.push({ kind, elapsedMs, restarting: this.restarting });
  }

  /** Lines for people. */
  lines(): string[] {
    const count = (match: (status: number | undefined) => boolean): number =>
      this.tries.filter(({ status }) => match(status)).length;
    const all = this.tries.length;
    const broken = count((status) => status === undefined);
    const later = count((status) => status !== undefined && (status >= 500 || status === 429));
    return [
      `requests: ${all} sent, ${broken} connections broken, ${later} answered "later"; ${this.answers.length} answered in the end, all of them`,
      'latency with retries, ms    quiet: count    p50    p99    max   restarting: count    p50    p99    max',
      ...kinds.map((kind) => `  ${kind.padEnd(24)} ${this.row(kind, false, 15)}${this.row(kind, true, 20)}`),
    ];
  }

  private row(kind: Kind, restarting: boolean, width: number): string {
    const own = this.answers.filter((sample) => sample.kind === kind && sample.restarting === restarting);
    const times = own.map(({ elapsedMs }) => elapsedMs).toSorted((a, b) => a - b);
    const at = (share: number): string => {
      const time = times[Math.min(times.length - 1, Math.floor(times.length * share))];
      return (time === undefined ? '-' : time.toFixed(0)).padStart(7);
    };
    return `${String(times.length).padStart(width)}${at(0.5)}${at(0.99)}${at(1)}`;
  }
}
