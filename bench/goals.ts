/** What a figure of a benchmark must keep. */
export interface Goal {
  /** The id that the benchmark gives its figure (report.ts). */
  readonly figure: string;
  /** What is compared: our own value, or our value divided by that of the floor or peer. */
  readonly of: 'ours' | 'ratio';
  readonly atMost?: number;
  readonly atLeast?: number;
}

const atMost = (figure: string, most: number): Goal => ({ figure, of: 'ours', atMost: most });
const atLeast = (figure: string, least: number): Goal => ({ figure, of: 'ours', atLeast: least });
const ratioAtMost = (figure: string, most: number): Goal => ({ figure, of: 'ratio', atMost: most });
const ratioAtLeast = (figure: string, least: number): Goal => ({ figure, of: 'ratio', atLeast: least });

/**
 * "A million running rentals on two cores": a tick ends before the next one is due, and 100,000 rentals take half of
 * what the ticks of release 0.1 took, half a core. An entry that is locked, computed, chained and checked takes at most
 * twice and a bit of what its bare rows take (design: "0.45 of the bare floor").
 */
const metering: readonly Goal[] = [
  atMost('meter.p99.100000.realistic', 1_000),
  atMost('meter.cores.100000.realistic', 0.25),
  atMost('meter.p99.1000000.realistic', 1_000),
  atLeast('meter.ratio.10000.every-second', 0.45),
  atLeast('meter.ratio.50000.every-second', 0.45),
  atLeast('meter.ratio.100000.every-second', 0.45),
  ratioAtLeast('meter.literal.100000.every-second', 2_000),
];

/** A page of a long life costs what one of a short life costs (decision 117, "A ledger of any length"). */
const ledger: readonly Goal[] = [ratioAtMost('ledger.page.10000000', 2)];

/** A rental opens in the time of the bare update-with-start, and its life tells Temporal half as many events as before. */
const rentals: readonly Goal[] = [
  atMost('create.ratio', 1.15),
  atMost('create.postgres.ratio', 1.15),
  atMost('create.events', 45),
  atMost('create.postgres.events', 45),
];

/** A request costs a quarter more than its one query, with the session or the key looked up each time. */
const reading: readonly Goal[] = [
  ratioAtLeast('read.GET /v1/rentals/:id.session', 0.8),
  ratioAtLeast('read.GET /v1/rentals/:id.key', 0.8),
  ratioAtLeast('read.GET /v1/billing/ledger.session', 0.8),
  ratioAtLeast('read.GET /v1/billing/ledger.key', 0.8),
  ratioAtLeast('read.GET /v1/billing/balance.session', 0.8),
  ratioAtLeast('read.GET /v1/billing/balance.key', 0.8),
];

/** Clients that poll as the specification recommends are served soon, without errors, and nothing blocks the loop. */
const polling: readonly Goal[] = [
  atMost('api.p99.200', 100),
  atMost('api.errors.200', 0),
  atMost('api.loop.200', 50),
  atMost('api.loop.attack', 50),
];

/** A payment is in the balance while the payer still looks; a webhook costs a quarter more than to keep its event. */
const payments: readonly Goal[] = [atMost('webhook.paid.p99', 2_000), ratioAtLeast('webhook.accepted', 0.8)];

/** The stream of events (decision 115, "One stream for a browser"): soon, whole, and a twentieth of polling's cost. */
const events: readonly Goal[] = [
  atMost('events.p99.1000', 300),
  atMost('events.lost.1000', 0),
  ratioAtMost('events.client.1000', 0.05),
];

/** A thousand machines that are waited for take half a core of the worker. */
const waiting: readonly Goal[] = [atMost('probe.sshRefused.1000', 0.5), atMost('probe.sshSilent.1000', 0.5)];

/** Following the use of a thousand guarded machines takes a tenth of a core, and a fifth where they report it. */
const telemetry: readonly Goal[] = [
  atMost('telemetry.cores.1000', 0.1),
  atMost('telemetry.reported.1000', 0.2),
];

/** What a person feels (decision 114, "The dashboard"): the paint, no shift, no stutter, and money that is true. */
const dashboard: readonly Goal[] = [
  atMost('dashboard.paint', 1_000),
  atMost('dashboard.shift', 0.05),
  atMost('dashboard.balance', 1_500),
  atMost('dashboard.scroll.100000', 100),
];

/** The first minutes of whoever tries it: ready while they still watch. */
const starting: readonly Goal[] = [atMost('start.warm', 8), atMost('start.demo', 30)];

/** After half an hour with rentals that start and end it is as fast, and as large, as in its first minutes. */
const soaking: readonly Goal[] = [
  atMost('soak.p99.200000', 1_000),
  ratioAtMost('soak.p99.200000', 1.25),
  ratioAtMost('soak.wallets.200000', 1.25),
  ratioAtMost('soak.meter_readings.200000', 1.25),
];

/**
 * The goals of all benchmarks, in one place. A figure may have several; a figure of another size than its goal names has
 * none. Nothing asserts them: the table (bench:all) says which are met.
 */
export const goals: readonly Goal[] = [
  ...metering,
  ...ledger,
  ...rentals,
  ...reading,
  ...polling,
  ...payments,
  ...events,
  ...waiting,
  ...telemetry,
  ...dashboard,
  ...starting,
  ...soaking,
];
