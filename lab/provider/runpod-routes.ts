import { randomUUID } from 'node:crypto';
import Router from '@koa/router';
import Joi from 'joi';
import type { Context } from 'koa';
import { strikes, type Endpoint, type LabFaults } from './faults.js';
import type { Fleet, NewPod } from './fleet.js';
import { getLabGpu, runpodLabOffers, type LabOffer } from './offers.js';
import { runpodUseOf } from './machine-use.js';
import { getPod, isSoldOut, readBody, refuseRequest } from './requests.js';
import { podUserNameOf } from './running-pod.js';
import {
  isOfDialect,
  type LabPod,
  type LabPodStatus,
  type LabRegistry,
  type LabState,
  type LabStore,
} from './state.js';

interface CreateBody {
  name: string;
  image: string;
  gpu: { id: string; count?: number; minCudaVersion?: string; allowedCudaVersions?: string[] };
  cloud: 'SECURE' | 'COMMUNITY';
  dataCenterIds: string[];
  ports: string[];
  startSsh: boolean;
  env: Record<string, string>;
  disk: number;
  args: string;
  registry: string | null;
}

/** RunPod opens no more http ports than these. */
const MAX_HTTP_PORTS = 10;
const MAX_ARGS_CHARS = 4_096;

const version = Joi.string().pattern(/^\d+\.\d+$/);

/** The fields of RunPod's CreatePodRequest that the lab knows; it refuses any other, as RunPod does. */
const createSchema = Joi.object({
  name: Joi.string().required(),
  image: Joi.string().required(),
  gpu: Joi.object({
    id: Joi.string().required(),
    count: Joi.number().integer().min(1),
    minCudaVersion: version,
    allowedCudaVersions: Joi.array().items(version),
  }).required(),
  cloud: Joi.string().valid('SECURE', 'COMMUNITY').default('SECURE'),
  dataCenterIds: Joi.array().items(Joi.string()).default([]),
  ports: Joi.array()
    .items(Joi.string().pattern(/^\d+\/(tcp|http)$/))
    .default([]),
  startSsh: Joi.boolean().strict().default(false),
  env: Joi.object()
    .pattern(/^[A-Za-z_]\w*$/, Joi.string().allow(''))
    .default({}),
  disk: Joi.number().integer().min(1).default(20),
  args: Joi.string().allow('').max(MAX_ARGS_CHARS).default(''),
  registry: Joi.string().allow(null).default(null),
});

const registrySchema = Joi.object({
  name: Joi.string().required(),
  username: Joi.string().required(),
  password: Joi.string().required(),
});

/** RunPod shows a pod until it is gone; it has no word for a pod that is about to go. */
const STATUSES: Readonly<Record<LabPodStatus, string>> = {
  creating: 'PROVISIONING',
  pending_provider: 'PROVISIONING',
  pending: 'STARTING',
  active: 'RUNNING',
  error: 'ERROR',
  deleting: 'EXITED',
  deleted: 'TERMINATED',
};

/** The part of RunPod's API (v2) that the service uses, over the same machines and with the lab's faults. */
export function runpodRoutes(fleet: Fleet, store: LabStore): Router {
  const router = new Router({ prefix: '/v2' });
  router.get('/catalog/gpus', (ctx) => {
    refuse(ctx, fleet, 'offers');
    ctx.body = { gpus: listGpus(ctx) };
  });
  router.get('/pods', (ctx) => {
    refuse(ctx, fleet, 'list');
    // A deleted pod leaves the list at once, though it takes a moment to be gone.
    const pods = fleet.listed().filter((pod) => isOfDialect(pod, 'runpod') && pod.status !== 'deleting');
    ctx.body = { pods: pods.map((pod) => presentPod(pod, fleet)) };
  });
  router.post('/pods', (ctx) => create(ctx, fleet, store));
  router.delete('/pods/:id', async (ctx) => {
    refuse(ctx, fleet, 'delete');
    const pod = getPod(ctx, fleet, ctx.params['id'], 'runpod');
    if (strikes(fleet.faults, 'failDelete')) ctx.throw(500, 'the lab was told to fail this delete');
    await fleet.remove(pod);
    ctx.status = 204;
  });
  addRegistries(router, fleet, store);
  return router;
}

/** Credentials are never shown again, and none is removed while a container is being started by it. */
function addRegistries(router: Router, fleet: Fleet, store: LabStore): void {
  const { state } = store;
  router.get('/registries', (ctx) => {
    ctx.body = { registries: state.registries.map(({ id, name }) => ({ id, name })) };
  });
  router.post('/registries', async (ctx) => {
    const body = await readBody<Omit<LabRegistry, 'id'>>(ctx, registrySchema, 422);
    const id = randomUUID();
    state.registries.push({ id, ...body });
    await store.save();
    ctx.status = 201;
    ctx.body = { id, name: body.name };
  });
  router.delete('/registries/:id', async (ctx) => {
    const index = state.registries.findIndex(({ id }) => id === ctx.params['id']);
    if (index < 0) ctx.throw(404, 'no such credential');
    const { id } = state.registries[index] ?? {};
    const isPulling = fleet.list().some((pod) => pod.registryId === id && pod.activeAtMs === null);
    if (isPulling) ctx.throw(400, 'the credential is in use');
    state.registries.splice(index, 1);
    await store.save();
    ctx.status = 204;
  });
}

/** Makes the problem body of each failure, as RunPod answers it (RFC 9457). */
export function problemOf(status: number, detail: string): Record<string, unknown> {
  const title = TITLES.get(status) ?? 'Error';
  return { title, status, detail, ...(status === 422 ? { errors: [detail] } : {}) };
}

const TITLES = new Map([
  [400, 'Bad Request'],
  [401, 'Unauthorized'],
  [403, 'Forbidden'],
  [404, 'Not Found'],
  [422, 'Unprocessable Entity'],
  [429, 'Too Many Requests'],
  [500, 'Internal Server Error'],
]);

async function create(ctx: Context, fleet: Fleet, { state }: LabStore): Promise<void> {
  const body = await readBody<CreateBody>(ctx, createSchema, 422);
  refuseSoftware(ctx, body, state);
  const { count, minCudaVersion, allowedCudaVersions } = body.gpu;
  // As at RunPod: without a count nothing is ever found, and two rules for one version contradict each other.
  if (count === undefined) ctx.throw(400, 'no instances available for this request');
  if (minCudaVersion !== undefined && allowedCudaVersions !== undefined)
    ctx.throw(400, 'minCudaVersion and allowedCudaVersions exclude each other');
  const offer = findOffer(body);
  if (offer === undefined) ctx.throw(400, 'no machine with these GPUs in these data centers');
  refuse(ctx, fleet, 'create');
  if (strikes(fleet.faults, 'noFunds')) ctx.throw(402, 'the balance is too low');
  // RunPod has no own status for a lack of capacity: it answers as for a broken rule.
  if (isSoldOut(fleet, offer)) ctx.throw(400, 'no capacity for this request');
  const pod = await fleet.create(newPodOf(body, offer));
  if (strikes(fleet.faults, 'loseCreateAnswer')) {
    // The pod exists and the create gets no answer: the connection stays open until the client gives up.
    ctx.respond = false;
    return;
  }
  if (strikes(fleet.faults, 'failCreateAfterMake'))
    ctx.throw(500, 'the lab was told to fail after making the pod');
  ctx.status = 201;
  ctx.body = presentPod(pod, fleet);
}

function refuseSoftware(ctx: Context, { ports, registry }: CreateBody, { registries }: LabState): void {
  if (ports.filter((port) => port.endsWith('/http')).length > MAX_HTTP_PORTS)
    ctx.throw(422, `at most ${MAX_HTTP_PORTS} http ports`);
  if (registry !== null && !registries.some(({ id }) => id === registry))
    ctx.throw(400, 'no such registry credential');
}

/** RunPod tells the quota of each window as well. */
function refuse(ctx: Context, fleet: Fleet, endpoint: Endpoint): void {
  refuseRequest(ctx, fleet, endpoint, (retryAfterSeconds) => {
    ctx.set('ratelimit', `"minute";r=0;t=${retryAfterSeconds ?? 12}, "hour";r=2800;t=1812`);
  });
}

function findOffer({ cloud, gpu, dataCenterIds }: CreateBody): LabOffer | undefined {
  if (cloud !== 'SECURE') return undefined;
  return runpodLabOffers.find(
    (offer) =>
      getLabGpu(offer).productName === gpu.id &&
      offer.gpuCount === gpu.count &&
      (dataCenterIds.length === 0 || dataCenterIds.includes(offer.region)),
  );
}

function newPodOf(body: CreateBody, offer: LabOffer): NewPod {
  return {
    dialect: 'runpod',
    offer,
    name: body.name,
    tags: [],
    os: body.image,
    sshKeyId: null,
    // RunPod's images take the key from PUBLIC_KEY. Without a published port nothing could reach the pod anyway.
    publicKey: body.ports.includes('22/tcp') ? (body.env['PUBLIC_KEY'] ?? null) : null,
    base64Script: null,
    envs: Object.entries(body.env).map(([name, value]) => ({ name, value })),
    ...{ args: body.args, ports: body.ports, registryId: body.registry, disk: body.disk },
  };
}

/** Lists each GPU once, with the data centers that can start a pod with the asked count of them. */
function listGpus(ctx: Context): unknown[] {
  const { include, product, count = '1', cloud = 'SECURE' } = ctx.query;
  if (include === 'AVAILABILITY' && product === undefined)
    ctx.throw(400, 'include=AVAILABILITY needs product');
  const filters = ['product', 'count', 'cloud', 'country', 'minCudaVersion'].filter(
    (name) => name in ctx.query,
  );
  if (include === undefined && filters.length > 0)
    ctx.throw(400, `${filters.join(', ')} can be asked only with include=AVAILABILITY`);
  const gpuIds = new Set(runpodLabOffers.map((offer) => getLabGpu(offer).productName));
  return [...gpuIds].map((gpuId) => {
    const offers = runpodLabOffers.filter((offer) => getLabGpu(offer).productName === gpuId);
    const here = offers.filter((offer) => String(offer.gpuCount) === count && cloud === 'SECURE');
    return { ...gpuTypeOf(gpuId, offers), ...(include === 'AVAILABILITY' ? stockOf(here) : {}) };
  });
}

function gpuTypeOf(gpuId: string, offers: readonly LabOffer[]): Record<string, unknown> {
  // One price per GPU for all places and counts: the dearest in the price list.
  const priceCents = Math.max(...offers.map((offer) => offer.priceCents / offer.gpuCount));
  const most = Math.max(...offers.map((offer) => offer.gpuCount));
  const [offer] = offers;
  return {
    id: gpuId,
    name: gpuId.replace(/^NVIDIA (GeForce )?/, ''),
    pool: null,
    manufacturer: 'NVIDIA',
    memory: offer === undefined ? 0 : getLabGpu(offer).vramGb,
    secure: true,
    community: false,
    price: { secure: priceCents / 100, community: 0 },
    maxCount: { secure: most, community: 0 },
  };
}

function stockOf(offers: readonly LabOffer[]): Record<string, unknown> {
  if (offers.length === 0) return { availability: 'NONE' };
  const dataCenters = offers.map(({ region, label }) => ({ id: region, name: label, availability: 'HIGH' }));
  return { availability: 'HIGH', dataCenters };
}

/** $0.10 a GB and month, for the 50 GB that are always shown. It is not documented whether `cost` includes it. */
const DISK_USD_PER_HOUR = (50 * 0.1) / 730;

/** Returns the cost of a pod per hour; an ended pod costs nothing. */
export function costUsdOf({ status, priceCents }: LabPod, { diskInPrice }: LabFaults): number {
  if (status === 'deleting' || status === 'deleted') return 0;
  return priceCents / 100 + (diskInPrice === 0 ? 0 : DISK_USD_PER_HOUR);
}

function presentPod(pod: LabPod, { faults, host }: Fleet): Record<string, unknown> {
  const offer = runpodLabOffers.find(({ type, region }) => type === pod.type && region === pod.region);
  const isUp = pod.status === 'active';
  return {
    id: pod.id,
    name: pod.name,
    status: STATUSES[pod.status],
    actions: isUp ? ['stop', 'restart', 'terminate'] : ['start', 'terminate'],
    image: pod.os,
    args: pod.args ?? '',
    disk: pod.disk ?? 50,
    mounts: {},
    ports: pod.ports ?? ['22/tcp'],
    env: Object.fromEntries(pod.envs.map(({ name, value }) => [name, value])),
    registry: pod.registryId ?? null,
    gpu: offer === undefined ? null : { id: getLabGpu(offer).productName, count: offer.gpuCount },
    cloud: 'SECURE',
    dataCenterId: pod.region,
    cudaVersion: '12.8',
    ssh: { proxy: null, direct: isUp ? directOf(pod, host) : null },
    template: null,
    cost: costUsdOf(pod, faults),
    locked: false,
    globalNetworking: { enabled: false },
    runtime: isUp ? runtimeOf(pod, host, offer) : null,
    createdAt: new Date(pod.createdAtMs).toISOString(),
    startedAt: startedAtOf(pod),
  };
}

function startedAtOf({ startedAtMs, activeAtMs }: LabPod): string | null {
  const atMs = startedAtMs ?? activeAtMs;
  return atMs === null ? null : new Date(atMs).toISOString();
}

function runtimeOf(pod: LabPod, host: string, offer: LabOffer | undefined): Record<string, unknown> {
  return { ...runpodUseOf(pod, offer?.gpuCount ?? 1), ports: runtimePortsOf(pod, host) };
}

function runtimePortsOf({ forwards = [], ports = [] }: LabPod, host: string): unknown[] {
  const http = ports.filter((text) => text.endsWith('/http'));
  return [
    ...http.map((text) => ({ private: Number.parseInt(text, 10), public: null, type: 'http', ip: null })),
    ...forwards.map((forward) => ({ ...forward, type: 'tcp', ip: host })),
  ];
}

function directOf(pod: LabPod, host: string): Record<string, unknown> | null {
  const port = pod.shownPort ?? pod.port;
  if (port === null) return null;
  const username = podUserNameOf(pod);
  return { host, port, username, command: `ssh ${username}@${host} -p ${port}` };
}
