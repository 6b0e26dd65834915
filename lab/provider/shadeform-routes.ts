import { randomUUID } from 'node:crypto';
import Router from '@koa/router';
import Joi from 'joi';
import type { Context } from 'koa';
import { strikes } from './faults.js';
import type { Fleet, NewPod } from './fleet.js';
import { findLabOffer, getLabGpu, labOffers, labOsOptions, type LabOffer } from './offers.js';
import { getPod, isSoldOut, readBody, refuseRequest } from './requests.js';
import { podUserNameOf } from './running-pod.js';
import { isOfDialect, type LabPod, type LabStore } from './state.js';

interface CreateBody {
  cloud: string;
  region: string;
  shade_instance_type: string;
  name: string;
  os?: string;
  ssh_key_id?: string;
  tags?: string[];
  envs?: { name: string; value: string }[];
  auto_delete?: { date_threshold?: Date };
  launch_configuration?: { type: string; script_configuration?: { base64_script: string } };
}

const env = Joi.object({
  name: Joi.string()
    .pattern(/^[A-Za-z_]\w*$/)
    .required(),
  value: Joi.string().allow('').required(),
});

const autoDelete = Joi.object({ date_threshold: Joi.date().iso() }).unknown();

/** The fields of Shadeform's CreateRequest that the lab honours; it accepts others, which have no effect. */
const createSchema = Joi.object({
  cloud: Joi.string().required(),
  region: Joi.string().required(),
  shade_instance_type: Joi.string().required(),
  shade_cloud: Joi.boolean().required(),
  name: Joi.string().required(),
  os: Joi.string().valid(...labOsOptions),
  ssh_key_id: Joi.string(),
  tags: Joi.array().items(Joi.string()),
  envs: Joi.array().items(env),
  auto_delete: autoDelete,
  launch_configuration: Joi.object({
    type: Joi.string().valid('docker', 'script').required(),
    script_configuration: Joi.object({ base64_script: Joi.string().base64().required() }).unknown(),
  }).unknown(),
}).unknown();

const keySchema = Joi.object({
  name: Joi.string().required(),
  public_key: Joi.string()
    .pattern(/^\S+ \S+/)
    .required(),
}).unknown();

interface UpdateBody {
  auto_delete?: { date_threshold?: Date } | null;
}

const updateSchema = Joi.object({ auto_delete: autoDelete.allow(null) }).unknown();

/** The part of Shadeform's API (v1) that the service uses, with the lab's faults. */
export function shadeformRoutes(fleet: Fleet, store: LabStore): Router {
  const router = new Router({ prefix: '/v1' });
  router.get('/instances/types', (ctx) => {
    refuseRequest(ctx, fleet, 'offers');
    ctx.body = { instance_types: listTypes(ctx.query) };
  });
  router.get('/instances', (ctx) => {
    refuseRequest(ctx, fleet, 'list');
    ctx.body = {
      instances: fleet
        .listed()
        .filter((pod) => isOfDialect(pod, 'shadeform'))
        .map((pod) => presentPod(pod, fleet.host)),
    };
  });
  router.post('/instances/create', (ctx) => create(ctx, fleet, store));
  router.get('/instances/:id/info', (ctx) => {
    const pod = getPod(ctx, fleet, ctx.params['id'], 'shadeform');
    ctx.body = { ...presentPod(pod, fleet.host), ...presentDetails(pod) };
  });
  router.post('/instances/:id/update', async (ctx) => {
    const pod = getPod(ctx, fleet, ctx.params['id'], 'shadeform');
    const { auto_delete } = await readBody<UpdateBody>(ctx, updateSchema);
    if (auto_delete !== undefined) await fleet.setEndBy(pod, auto_delete?.date_threshold ?? null);
    ctx.body = {};
  });
  router.post('/instances/:id/delete', async (ctx) => {
    refuseRequest(ctx, fleet, 'delete');
    const pod = getPod(ctx, fleet, ctx.params['id'], 'shadeform');
    if (strikes(fleet.faults, 'failDelete')) ctx.throw(500, 'the lab was told to fail this delete');
    await fleet.remove(pod);
    ctx.body = {};
  });
  router.get('/sshkeys', (ctx) => {
    const present = store.state.sshKeys.map(({ id, name, publicKey }) => ({
      id,
      name,
      public_key: publicKey,
    }));
    ctx.body = { ssh_keys: present.map((key) => ({ ...key, is_default: false })) };
  });
  router.post('/sshkeys/add', async (ctx) => {
    const body = await readBody<{ name: string; public_key: string }>(ctx, keySchema);
    const id = randomUUID();
    store.state.sshKeys.push({ id, name: body.name, publicKey: body.public_key });
    await store.save();
    ctx.body = { id };
  });
  router.post('/sshkeys/:id/delete', async (ctx) => {
    const index = store.state.sshKeys.findIndex((key) => key.id === ctx.params['id']);
    if (index < 0) ctx.throw(404, 'ssh key not found');
    const isInUse = fleet
      .list()
      .some((pod) => pod.sshKeyId === ctx.params['id'] && pod.status !== 'deleting');
    if (isInUse) ctx.throw(400, 'ssh key is in use');
    store.state.sshKeys.splice(index, 1);
    await store.save();
    ctx.body = {};
  });
  return router;
}

async function create(ctx: Context, fleet: Fleet, store: LabStore): Promise<void> {
  const body = await readBody<CreateBody>(ctx, createSchema);
  const offer = findLabOffer(body.cloud, body.shade_instance_type, body.region);
  if (offer === undefined) ctx.throw(400, 'no such cloud, region and shade_instance_type');
  const key = store.state.sshKeys.find((candidate) => candidate.id === body.ssh_key_id);
  if (body.ssh_key_id !== undefined && key === undefined) ctx.throw(400, 'no such ssh_key_id');
  refuseRequest(ctx, fleet, 'create');
  if (strikes(fleet.faults, 'noFunds')) {
    // The same status as a conflict: only the code differs.
    ctx.status = 409;
    ctx.body = { error_code: 'INSUFFICIENT_FUNDS', error: 'Balance must be a minimum of $5' };
    return;
  }
  if (isSoldOut(fleet, offer)) ctx.throw(409, 'out of capacity');
  const pod = await fleet.create(newPodOf(body, offer, key?.publicKey ?? null));
  if (strikes(fleet.faults, 'loseCreateAnswer')) {
    // The pod exists and the create gets no answer: the connection stays open until the client gives up.
    ctx.respond = false;
    return;
  }
  if (strikes(fleet.faults, 'failCreateAfterMake'))
    ctx.throw(500, 'the lab was told to fail after making the pod');
  ctx.body = { id: pod.id };
}

function newPodOf(body: CreateBody, offer: LabOffer, publicKey: string | null): NewPod {
  return {
    offer,
    name: body.name,
    tags: body.tags ?? [],
    os: body.os ?? labOsOptions[0] ?? '',
    sshKeyId: body.ssh_key_id ?? null,
    publicKey,
    base64Script: base64ScriptOf(body),
    envs: body.envs ?? [],
    endBy: body.auto_delete?.date_threshold ?? null,
  };
}

function base64ScriptOf({ launch_configuration: launch }: CreateBody): string | null {
  return launch?.type === 'script' ? (launch.script_configuration?.base64_script ?? null) : null;
}

type Filters = Readonly<Record<string, string | string[] | undefined>>;

function listTypes(filters: Filters): unknown[] {
  const wanted = labOffers.filter((offer) => matches(offer, filters));
  if (filters['sort'] === 'price') wanted.sort((one, other) => one.priceCents - other.priceCents);
  return wanted.map((offer) => ({
    cloud: offer.cloud,
    shade_instance_type: offer.type,
    cloud_instance_type: offer.type.toLowerCase(),
    configuration: { ...configurationOf(offer), os_options: labOsOptions },
    hourly_price: offer.priceCents,
    deployment_type: 'vm',
    availability: [{ region: offer.region, available: true, display_name: offer.label }],
    boot_time: { min_boot_in_sec: 1, max_boot_in_sec: 60 },
  }));
}

function matches(offer: LabOffer, filters: Filters): boolean {
  const facts: Readonly<Record<string, string>> = {
    cloud: offer.cloud,
    region: offer.region,
    num_gpus: String(offer.gpuCount),
    gpu_type: offer.gpuType,
    shade_instance_type: offer.type,
    available: 'true',
  };
  return Object.entries(facts).every(([name, fact]) => filters[name] === undefined || filters[name] === fact);
}

function configurationOf(offer: LabOffer): Record<string, unknown> {
  const gpu = getLabGpu(offer);
  return {
    memory_in_gb: offer.gpuCount * 64,
    storage_in_gb: 256,
    vcpus: offer.gpuCount * 8,
    num_gpus: offer.gpuCount,
    gpu_type: offer.gpuType,
    interconnect: offer.interconnect,
    nvlink: offer.interconnect.startsWith('sxm') && offer.gpuCount > 1,
    vram_per_gpu_in_gb: gpu.vramGb,
    gpu_manufacturer: 'nvidia',
  };
}

/** What no list shows of an instance. */
function presentDetails({ sshKeyId, envs, endByMs = null }: LabPod): Record<string, unknown> {
  const auto_delete = endByMs === null ? null : { date_threshold: atIso(endByMs) };
  return { ssh_key_id: sshKeyId, envs, auto_delete };
}

function atIso(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

function presentPod(pod: LabPod, host: string): Record<string, unknown> {
  const offer = findLabOffer(pod.cloud, pod.type, pod.region);
  return {
    id: pod.id,
    cloud: pod.cloud,
    region: pod.region,
    shade_instance_type: pod.type,
    cloud_instance_type: pod.type.toLowerCase(),
    cloud_assigned_id: pod.id,
    shade_cloud: true,
    name: pod.name,
    configuration: { ...(offer === undefined ? {} : configurationOf(offer)), os: pod.os },
    ip: pod.port === null ? null : host,
    ssh_user: podUserNameOf(pod),
    ssh_port: pod.shownPort ?? pod.port,
    status: pod.status,
    status_details: pod.statusDetails,
    cost_estimate: '0',
    hourly_price: pod.priceCents,
    tags: pod.tags,
    active_at: atIso(pod.activeAtMs),
    created_at: atIso(pod.createdAtMs),
    deleted_at: atIso(pod.deletedAtMs),
    boot_time: { min_boot_in_sec: 1, max_boot_in_sec: 60 },
  };
}
