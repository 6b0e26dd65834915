import Joi from 'joi';
import {
  crashModes,
  endpoints,
  gpuFaults,
  type CrashMode,
  type Endpoint,
  type GpuFault,
  type LabFaults,
  type Times,
} from './faults.js';
import type { LabQuota } from './quotas.js';

/** The fields of the body that are settings, not faults. */
export type SettingName = 'bootMs' | 'deleteMs' | 'balanceCents' | 'contractMs' | 'quotas';

/** A number of times; `true` until cleared, `false` not at all. */
const times = Joi.alternatives(Joi.number().integer().min(0), Joi.boolean());
const ms = Joi.number().integer().min(0).max(3_600_000);

/** A fault with settings may be given as its times alone; settings without times hold until cleared. */
const timesOr = (settings: Joi.PartialSchemaMap): Joi.Schema =>
  Joi.alternatives(times, Joi.object({ times, ...settings }));

const retryAfterSeconds = Joi.number().integer().min(0);
const on = Joi.array()
  .items(Joi.string().valid(...endpoints))
  .min(1);

export const faultsSchema = Joi.object({
  noCapacity: timesOr({ types: Joi.array().items(Joi.string()).min(1) }),
  noFunds: times,
  accountKey: times,
  dearTraffic: times,
  paced: times,
  diskInPrice: times,
  loseCreateAnswer: times,
  failCreateAfterMake: times,
  rateLimitCreate: timesOr({ retryAfterSeconds }),
  rateLimit: timesOr({ retryAfterSeconds, on }),
  failRequest: timesOr({ on }),
  bootNever: times,
  priceChange: timesOr({ percent: Joi.number().integer().min(-99).max(1000) }),
  failDelete: times,
  listLag: timesOr({ forMs: ms }),
  late404: timesOr({ forMs: ms }),
  sshSilent: times,
  sshRefused: times,
  crashAfter: timesOr({ afterMs: ms, mode: Joi.string().valid(...crashModes) }),
  reuseAddress: timesOr({ forMs: ms }),
  soldTwice: times,
  badGpu: timesOr({ kind: Joi.string().valid(...gpuFaults), listed: Joi.boolean() }),
  bootMs: ms,
  deleteMs: ms,
  balanceCents: Joi.number().integer(),
  contractMs: Joi.number().integer().min(0),
  quotas: Joi.array()
    .items(
      Joi.object({
        name: Joi.string()
          .pattern(/^[a-z]{1,20}$/)
          .required(),
        quota: Joi.number().integer().min(1).required(),
        windowSeconds: Joi.number().integer().min(1).required(),
      }),
    )
    .max(10)
    .allow(null),
});

type WireTimes = number | boolean;
type WithTimes<T> = WireTimes | ({ times?: WireTimes } & Partial<T>);

/** The body of POST /lab/faults: each field sets one fault; absent fields stay as they are. */
export interface FaultsBody {
  noCapacity?: WithTimes<{ types: string[] }>;
  noFunds?: WireTimes;
  accountKey?: WireTimes;
  dearTraffic?: WireTimes;
  paced?: WireTimes;
  diskInPrice?: WireTimes;
  loseCreateAnswer?: WireTimes;
  failCreateAfterMake?: WireTimes;
  rateLimitCreate?: WithTimes<{ retryAfterSeconds: number }>;
  rateLimit?: WithTimes<{ retryAfterSeconds: number; on: Endpoint[] }>;
  failRequest?: WithTimes<{ on: Endpoint[] }>;
  bootNever?: WireTimes;
  priceChange?: WithTimes<{ percent: number }>;
  failDelete?: WireTimes;
  listLag?: WithTimes<{ forMs: number }>;
  late404?: WithTimes<{ forMs: number }>;
  sshSilent?: WireTimes;
  sshRefused?: WireTimes;
  crashAfter?: WithTimes<{ afterMs: number; mode: CrashMode }>;
  reuseAddress?: WithTimes<{ forMs: number }>;
  soldTwice?: WireTimes;
  badGpu?: WithTimes<{ kind: GpuFault; listed: boolean }>;
  /** Settings rather than faults; they stay when the faults are cleared. */
  bootMs?: number;
  deleteMs?: number;
  balanceCents?: number;
  contractMs?: number;
  /** Of RunPod's dialect; null for the documented ones, which refuse nothing. */
  quotas?: readonly LabQuota[] | null;
}

/** The settings of a fault that is given as its times alone. */
const DEFAULTS = {
  noCapacity: { types: null },
  rateLimitCreate: { retryAfterSeconds: null },
  rateLimit: { retryAfterSeconds: null, on: endpoints },
  failRequest: { on: endpoints },
  priceChange: { percent: 25 },
  listLag: { forMs: 2_000 },
  late404: { forMs: 2_000 },
  crashAfter: { afterMs: 1_000, mode: 'error' },
  reuseAddress: { forMs: 2_000 },
  badGpu: { kind: 'wrong_model', listed: false },
} as const;

/** Returns only the faults that the body names. */
export function faultsOf(body: Omit<FaultsBody, SettingName>): Partial<LabFaults> {
  const set: Record<string, unknown> = {};
  for (const [name, wire] of Object.entries(body) as [keyof typeof DEFAULTS, WithTimes<object>][]) {
    if (typeof wire === 'object')
      set[name] = { ...DEFAULTS[name], ...wire, times: timesOf(wire.times ?? true) };
    else if (name in DEFAULTS) set[name] = { ...DEFAULTS[name], times: timesOf(wire) };
    else set[name] = timesOf(wire);
  }
  // The schema above guarantees that the names and settings are those of the faults.
  return set;
}

function timesOf(wire: WireTimes): Times {
  if (typeof wire === 'number') return wire;
  return wire ? 'until_cleared' : 0;
}
