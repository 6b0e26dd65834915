import Router from '@koa/router';
import Joi from 'joi';
import { faultsOf, faultsSchema, type FaultsBody } from './fault-bodies.js';
import { crashModes, noFaults, type CrashMode } from './faults.js';
import type { Fleet } from './fleet.js';
import { useSchema } from './machine-use.js';
import { getPod, readBody } from './requests.js';
import { podUserNameOf } from './running-pod.js';
import type { LabRestart, LabStore, LabUse } from './state.js';

const restartSchema = Joi.object({
  isTold: Joi.boolean(),
  aheadMs: Joi.number().integer().min(0).max(60_000),
});

const crashSchema = Joi.object({
  mode: Joi.string()
    .valid(...crashModes)
    .default('error'),
});

/** Faults one after the other, each after its delay from the script's start. Clearing the faults ends the script. */
const scriptSchema = Joi.object({
  steps: Joi.array()
    .items(faultsSchema.keys({ afterMs: Joi.number().integer().min(0).max(3_600_000).required() }))
    .min(1)
    .required(),
});

/** The lab's own endpoints: its state in full, and faults on demand. */
export function labRoutes(fleet: Fleet, store: LabStore): Router {
  const router = new Router({ prefix: '/lab' });
  const knobs = (): object => {
    const { settings, faults, quotas } = fleet;
    return { settings: { ...settings, quotas: quotas.told }, faults, refusedByQuotas: quotas.refused };
  };
  const script: NodeJS.Timeout[] = [];
  const set = ({ bootMs, deleteMs, balanceCents, contractMs, quotas, ...faults }: FaultsBody): void => {
    const { settings } = fleet;
    settings.bootMs = bootMs ?? settings.bootMs;
    settings.deleteMs = deleteMs ?? settings.deleteMs;
    settings.balanceCents = balanceCents ?? settings.balanceCents;
    settings.contractMs = contractMs ?? settings.contractMs;
    if (quotas !== undefined) fleet.quotas.set(quotas);
    fleet.faults = { ...fleet.faults, ...faultsOf(faults) };
  };
  router.get('/state', (ctx) => {
    // Every pod that ever was (except the oldest), without its host key, which is secret.
    const pods = store.state.pods.map((pod) => ({
      ...pod,
      hostKey: undefined,
      userName: podUserNameOf(pod),
    }));
    const { sshKeys, registries, lambdaKeys } = store.state;
    ctx.body = { ...knobs(), pods, sshKeys, registries, lambdaKeys };
  });
  router.get('/faults', (ctx) => {
    ctx.body = knobs();
  });
  router.post('/faults', async (ctx) => {
    set(await readBody<FaultsBody>(ctx, faultsSchema));
    ctx.body = knobs();
  });
  router.delete('/faults', (ctx) => {
    for (const timer of script.splice(0)) clearTimeout(timer);
    fleet.faults = noFaults();
    ctx.body = knobs();
  });
  router.post('/script', async (ctx) => {
    const { steps } = await readBody<{ steps: (FaultsBody & { afterMs: number })[] }>(ctx, scriptSchema);
    for (const { afterMs, ...body } of steps) script.push(setTimeout(() => set(body), afterMs).unref());
    ctx.body = { steps: steps.length };
  });
  router.post('/pods/:id/crash', async (ctx) => {
    const pod = getPod(ctx, fleet, ctx.params['id']);
    const { mode } = await readBody<{ mode: CrashMode }>(ctx, crashSchema);
    await fleet.crash(pod, mode);
    ctx.body = { id: pod.id, status: pod.status };
  });
  router.post('/pods/:id/use', async (ctx) => {
    const pod = getPod(ctx, fleet, ctx.params['id']);
    pod.use = await readBody<LabUse>(ctx, useSchema);
    await store.save();
    ctx.body = { id: pod.id, use: pod.use };
  });
  router.post('/pods/:id/restart', async (ctx) => {
    const pod = getPod(ctx, fleet, ctx.params['id']);
    await fleet.restart(pod, await readBody<LabRestart>(ctx, restartSchema));
    ctx.body = { id: pod.id, status: pod.status };
  });
  return router;
}
