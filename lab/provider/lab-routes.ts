import Router from '@koa/router';
import Joi from 'joi';
import { noFaults, type LabFaults, type Times } from './faults.js';
import type { CrashMode, Fleet } from './fleet.js';
import { getPod, readBody } from './requests.js';
import { podUserNameOf } from './running-pod.js';
import type { LabStore } from './state.js';

/** A number of times; `true` until cleared, `false` not at all. */
const times = Joi.alternatives(Joi.number().integer().min(0), Joi.boolean());

const faultsSchema = Joi.object({
  noCapacity: Joi.alternatives(times, Joi.object({ times, types: Joi.array().items(Joi.string()).min(1) })),
  loseCreateAnswer: times,
  failCreateAfterMake: times,
  rateLimitCreate: Joi.alternatives(
    times,
    Joi.object({ times, retryAfterSeconds: Joi.number().integer().min(0) }),
  ),
  bootNever: times,
  priceChange: Joi.alternatives(
    times,
    Joi.object({ times, percent: Joi.number().integer().min(-99).max(1000) }),
  ),
  failDelete: times,
  bootMs: Joi.number().integer().min(0).max(3_600_000),
  deleteMs: Joi.number().integer().min(0).max(3_600_000),
});

type WireTimes = number | boolean;
type WithTimes<T> = WireTimes | ({ times?: WireTimes } & Partial<T>);

/** The body of POST /lab/faults: each field sets one fault, those that are left out stay as they are. */
export interface FaultsBody {
  noCapacity?: WithTimes<{ types: string[] }>;
  loseCreateAnswer?: WireTimes;
  failCreateAfterMake?: WireTimes;
  rateLimitCreate?: WithTimes<{ retryAfterSeconds: number }>;
  bootNever?: WireTimes;
  priceChange?: WithTimes<{ percent: number }>;
  failDelete?: WireTimes;
  /** Settings rather than faults; they stay when the faults are cleared. */
  bootMs?: number;
  deleteMs?: number;
}

const crashSchema = Joi.object({
  mode: Joi.string().valid('error', 'vanish', 'unreachable').default('error'),
});

/** What only a lab has: its state in full, and faults on demand. */
export function labRoutes(fleet: Fleet, store: LabStore): Router {
  const router = new Router({ prefix: '/lab' });
  const knobs = (): object => ({ settings: fleet.settings, faults: fleet.faults });
  router.get('/state', (ctx) => {
    // Every pod that there ever was (but for the oldest), without its host key, which is its own secret.
    const pods = store.state.pods.map((pod) => ({
      ...pod,
      hostKey: undefined,
      userName: podUserNameOf(pod),
    }));
    ctx.body = { ...knobs(), pods, sshKeys: store.state.sshKeys };
  });
  router.get('/faults', (ctx) => {
    ctx.body = knobs();
  });
  router.post('/faults', async (ctx) => {
    const { bootMs, deleteMs, ...faults } = await readBody<FaultsBody>(ctx, faultsSchema);
    fleet.settings.bootMs = bootMs ?? fleet.settings.bootMs;
    fleet.settings.deleteMs = deleteMs ?? fleet.settings.deleteMs;
    fleet.faults = { ...fleet.faults, ...faultsOf(faults) };
    ctx.body = knobs();
  });
  router.delete('/faults', (ctx) => {
    fleet.faults = noFaults();
    ctx.body = knobs();
  });
  router.post('/pods/:id/crash', async (ctx) => {
    const pod = getPod(ctx, fleet, ctx.params['id']);
    const { mode } = await readBody<{ mode: CrashMode }>(ctx, crashSchema);
    await fleet.crash(pod, mode);
    ctx.body = { id: pod.id, status: pod.status };
  });
  return router;
}

/** Only the faults that the body names. */
function faultsOf(body: Omit<FaultsBody, 'bootMs' | 'deleteMs'>): Partial<LabFaults> {
  const set: Partial<LabFaults> = {};
  for (const name of ['loseCreateAnswer', 'failCreateAfterMake', 'bootNever', 'failDelete'] as const) {
    const wire = body[name];
    if (wire !== undefined) set[name] = timesOf(wire);
  }
  const { noCapacity, rateLimitCreate, priceChange } = body;
  if (noCapacity !== undefined) {
    const { times, types = null } = settingsOf(noCapacity);
    set.noCapacity = { times: timesOf(times), types };
  }
  if (rateLimitCreate !== undefined) {
    const { times, retryAfterSeconds = null } = settingsOf(rateLimitCreate);
    set.rateLimitCreate = { times: timesOf(times), retryAfterSeconds };
  }
  if (priceChange !== undefined) {
    const { times, percent = 25 } = settingsOf(priceChange);
    set.priceChange = { times: timesOf(times), percent };
  }
  return set;
}

/** A fault with settings may be given as its times alone; settings without times hold until cleared. */
function settingsOf<T extends object>(wire: WithTimes<T>): { times: WireTimes } & Partial<T> {
  if (typeof wire === 'object') return { times: true, ...wire };
  return { times: wire } as { times: WireTimes } & Partial<T>;
}

function timesOf(wire: WireTimes): Times {
  if (typeof wire === 'number') return wire;
  return wire ? 'until_cleared' : 0;
}
