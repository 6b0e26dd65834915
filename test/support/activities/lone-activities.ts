import pino from 'pino';
import type { ActivityDeps } from '../../../activities/deps.js';
import { createActivities, type Activities } from '../../../activities/index.js';
import { runRound } from '../../../activities/upkeep/upkeep.js';
import type { Database } from '../../../adapters/postgres/database.js';
import { confirmDatabase } from '../../../adapters/postgres/restore/watermark.js';
import type { Provider } from '../../../adapters/providers/provider.js';
import type { UpkeepDuty } from '../../../domain/operations/upkeep.js';
import { unnamedSeller } from '../../../domain/payments/receipt.js';
import { runAlone } from '../service/activity-context.js';
import { openMoneyDatabase } from '../money/money.js';
import { ScriptedProcessor } from './scripted-processor.js';

type Alarm = Readonly<Record<string, unknown>>;

/** All activities on a database of their own, with a scripted outside world and without Temporal. */
export interface LoneActivities {
  readonly deps: ActivityDeps;
  readonly db: Database;
  readonly url: string;
  readonly processor: ScriptedProcessor;
  /** The lines that were logged as errors, which wake an operator. */
  readonly alarms: Alarm[];
  /** Runs one activity by its registered name, as a worker does on the first try. */
  run<K extends keyof Activities>(
    name: K,
    ...args: Parameters<Activities[K]>
  ): Promise<Awaited<ReturnType<Activities[K]>>>;
  /** Runs one round of a duty of the upkeep. @param tell hears how it gets on */
  round(duty: UpkeepDuty, tell?: (detail: unknown) => void): Promise<object>;
  /** Runs one activity as a worker does on its second try. */
  runAgain: LoneActivities['run'];
  close(): Promise<void>;
}

export interface LoneParts {
  /** false: no payments are configured. */
  readonly billing?: boolean;
  readonly providers?: ReadonlyMap<string, Provider>;
  readonly settings?: Partial<ActivityDeps['settings']>;
  /** The way to endpoints of webhooks; default: none. */
  readonly webhooks?: ActivityDeps['webhooks'];
  /** Stands in for Temporal; default: an empty object, which takes no call. */
  readonly temporal?: object;
}

/** Opens a database and binds all activities to it. Call `close` in an `after` hook. */
export async function startActivities(parts: LoneParts = {}): Promise<LoneActivities> {
  const money = await openMoneyDatabase();
  const { db } = money;
  await confirmDatabase(db, null);
  const processor = new ScriptedProcessor(parts.billing ?? true);
  const alarms: Alarm[] = [];
  const deps = {
    db,
    openDb: db,
    meterDb: db,
    webhookDb: db,
    providers: parts.providers ?? new Map<string, Provider>(),
    processor: processor.port,
    temporal: parts.temporal ?? {},
    mail: {},
    webhooks: parts.webhooks ?? {},
    prober: {},
    oddities: {},
    log: pino({ level: 'error' }, { write: (line) => void alarms.push(JSON.parse(line) as Alarm) }),
    settings: {
      deployment: 'test',
      seller: unnamedSeller,
      shards: 1,
      allowPrivatePods: true,
      checkoutUrls: { success: 'http://127.0.0.1/success', cancel: 'http://127.0.0.1/cancel' },
      minDunningDayMs: 1,
      pollMs: 10,
      ...parts.settings,
    },
  } as unknown as ActivityDeps;
  const activities = createActivities(deps);
  const runTry =
    (attempt: number): LoneActivities['run'] =>
    (name, ...args) => {
      const activity = activities[name] as (...told: typeof args) => ReturnType<Activities[typeof name]>;
      const run = () => activity(...args) as Promise<Awaited<ReturnType<Activities[typeof name]>>>;
      return runAlone(run, attempt).result;
    };
  return {
    deps,
    db,
    url: money.url,
    processor,
    alarms,
    run: runTry(1),
    runAgain: runTry(2),
    round: (duty, tell = () => undefined) => runAlone(() => runRound(deps, duty, tell)).result,
    close: () => money.close(),
  };
}
