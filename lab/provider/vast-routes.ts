import { createHash } from 'node:crypto';
import Router from '@koa/router';
import Joi from 'joi';
import type { Context } from 'koa';
import { strikes } from './faults.js';
import type { Fleet } from './fleet.js';
import { getLabGpu, vastLabOffers, type LabOffer } from './offers.js';
import { vastUseOf } from './machine-use.js';
import { refuseTooSoon } from './paces.js';
import { getPod, isSoldOut, readBody, refuseRequest } from './requests.js';
import { isOfDialect, type LabPod, type LabPodStatus } from './state.js';

/** Offers are known by numbers; those of the lab begin here. */
const FIRST_OFFER = 7_000_001;
const PAGE = 25;
const MOST_SCRIPT = 4_096;
const GPU_NAMES: Readonly<Record<string, string>> = {
  RTX4090: 'RTX 4090',
  RTX5090: 'RTX 5090',
  H100: 'H100 SXM',
};

interface CreateBody {
  image: string;
  label?: string;
  disk?: number;
  runtype?: string;
  onstart?: string;
  args?: string[];
  env?: Record<string, string>;
}

/** The fields of Vast's create that the lab knows, with their limits; it refuses any other. */
const createSchema = Joi.object({
  image: Joi.string().max(1_024).required(),
  label: Joi.string().max(256),
  disk: Joi.number().min(8),
  runtype: Joi.string().valid('ssh', 'args', 'ssh_proxy', 'ssh_direct', 'jupyter_direct'),
  target_state: Joi.string().valid('running', 'stopped'),
  cancel_unavail: Joi.boolean(),
  onstart: Joi.string().max(MOST_SCRIPT),
  args: Joi.array().items(Joi.string()),
  env: Joi.object().pattern(Joi.string(), Joi.string().allow('').max(256)),
});

const STATUSES: Readonly<Record<LabPodStatus, string | null>> = {
  creating: null,
  pending_provider: 'loading',
  pending: 'loading',
  active: 'running',
  error: 'exited',
  deleting: 'exited',
  deleted: 'exited',
};

/** The codes by which Vast tells a failure. */
const CODES = new Map([
  [401, 'unauthorized'],
  [402, 'insufficient_credit'],
  [404, 'not_found'],
]);

/** The part of Vast's API (v0, v1) that the service uses, over the same machines and with the lab's faults. */
export function vastRoutes(fleet: Fleet): Router {
  const router = new Router({ prefix: '/vast/api' });
  router.post('/v0/bundles/', async (ctx) => {
    refuseRequest(ctx, fleet, 'offers');
    refuseTooSoon(ctx, fleet, 'vast search', 6_000);
    const filters = await readBody<object>(ctx, Joi.object().unknown());
    ctx.body = { offers: vastLabOffers.map((offer) => offerOf(offer, fleet)).filter(fits(filters)) };
  });
  router.put('/v0/asks/:id/', (ctx) => create(ctx, fleet, Number(ctx.params['id']) - FIRST_OFFER));
  router.get('/v1/instances/', (ctx) => {
    refuseRequest(ctx, fleet, 'list');
    refuseTooSoon(ctx, fleet, 'vast list', 1_000);
    ctx.body = listPage(ctx, fleet);
  });
  router.delete('/v0/instances/:id/', async (ctx) => {
    refuseRequest(ctx, fleet, 'delete');
    refuseTooSoon(ctx, fleet, 'vast destroy', 3_000);
    const asked = fleet.list().find((each) => String(numberOf(each)) === ctx.params['id']);
    const pod = getPod(ctx, fleet, asked?.id, 'vast');
    if (strikes(fleet.faults, 'failDelete')) ctx.throw(500, 'the lab was told to fail this delete');
    await fleet.remove(pod);
    ctx.body = { success: true };
  });
  router.get('/v0/ssh/', (ctx) => {
    if (fleet.faults.accountKey === 0) ctx.throw(404, 'No SSH keys found');
    ctx.body = [{ id: 1, user_id: 1, key: 'ssh-ed25519 AAAA', deleted_at: null }];
  });
  router.get('/v0/users/current/', (ctx) => {
    refuseRequest(ctx, fleet, 'balance');
    ctx.body = { id: 1, email: 'ops@example.org', balance: fleet.settings.balanceCents / 100, ssh_key: '' };
  });
  return router;
}

/** Makes the body of a failure. Some are plain text, as those of the rate limit are. */
export function vastFailureOf(status: number, msg: string): unknown {
  if (status === 429) return msg;
  return { success: false, error: CODES.get(status) ?? 'invalid_args', msg };
}

/** A machine's number at Vast, made from its id. */
export function numberOf(pod: Pick<LabPod, 'id'>): number {
  return createHash('sha256').update(pod.id).digest().readUIntBE(0, 6);
}

async function create(ctx: Context, fleet: Fleet, index: number): Promise<void> {
  const body = await readBody<CreateBody>(ctx, createSchema);
  const offer = vastLabOffers[index];
  refuseRequest(ctx, fleet, 'create');
  refuseTooSoon(ctx, fleet, 'vast create', 4_500);
  if (strikes(fleet.faults, 'noFunds')) ctx.throw(402, 'the account lacks credit');
  if (offer === undefined || isSoldOut(fleet, offer)) {
    ctx.status = 410;
    ctx.body = { success: false, error: 'no_such_ask', msg: 'it is no longer available' };
    return;
  }
  const pod = await fleet.create({
    ...{ dialect: 'vast', offer, name: body.label ?? '', tags: [], os: body.image, sshKeyId: null },
    // The account's keys go into each new machine, before the script runs.
    publicKey: fleet.faults.accountKey === 0 ? null : 'ssh-ed25519 AAAA',
    base64Script: body.onstart === undefined ? null : Buffer.from(body.onstart).toString('base64'),
    envs: [],
    endBy: null,
  });
  if (strikes(fleet.faults, 'loseCreateAnswer')) {
    ctx.respond = false;
    return;
  }
  const isFailing = strikes(fleet.faults, 'failCreateAfterMake');
  ctx.status = isFailing ? 400 : 200;
  // A failure that names a contract has made one.
  ctx.body = {
    success: !isFailing,
    ...(isFailing ? { error: 'invalid_args' } : {}),
    new_contract: numberOf(pod),
  };
}

function offerOf(offer: LabOffer, { faults, settings }: Fleet): Record<string, unknown> {
  const gpu = getLabGpu(offer);
  const usdPerGb = faults.dearTraffic === 0 ? 0 : 0.01;
  return {
    id: FIRST_OFFER + vastLabOffers.indexOf(offer),
    machine_id: machineIdOf(offer),
    ...{ gpu_name: GPU_NAMES[offer.gpuType], num_gpus: offer.gpuCount, gpu_ram: gpu.memoryMib },
    ...{ dph_total: offer.priceCents / 100, dph_base: offer.priceCents / 100, storage_cost: 0.1 },
    ...{ inet_up: 800, inet_down: 800, inet_up_cost: usdPerGb, inet_down_cost: usdPerGb },
    ...{ geolocation: geolocationOf(offer), verification: 'verified', rentable: true, rented: false },
    ...{ cpu_cores_effective: offer.gpuCount * 8, cpu_ram: offer.gpuCount * 65_536, disk_space: 256 },
    ...{ cuda_max_good: 12.8, driver_version: '570.86.15', direct_port_count: 8, reliability2: 0.99 },
    ...{ duration: settings.contractMs / 1_000, end_date: (Date.now() + settings.contractMs) / 1_000 },
    ...{ cpu_arch: 'amd64', is_bid: false, vms_enabled: false },
  };
}

/** "US, Texas" is Shadeform's way; Vast puts the country last. */
function geolocationOf({ label }: LabOffer): string {
  const [country, ...places] = label.split(', ');
  return [...places, country].join(', ');
}

type Operators = Readonly<Record<string, unknown>>;

/** Fits an offer to the search, as far as a filter is one of a field that it has. */
function fits(filters: object): (offer: Readonly<Record<string, unknown>>) => boolean {
  return (offer) =>
    Object.entries(filters).every(([name, asked]) => {
      const value = offer[name];
      if (typeof asked !== 'object' || asked === null || value === undefined) return true;
      const { eq, gte, in: list } = asked as Operators;
      if (eq !== undefined && value !== eq) return false;
      if (typeof gte === 'number' && Number(value) < gte) return false;
      return !Array.isArray(list) || list.includes(value);
    });
}

/** One page, in the order of making; the token of the next one is where it begins. */
function listPage(ctx: Context, fleet: Fleet): Record<string, unknown> {
  const { select_filters: filters = '{}', after_token: after = '0', limit = '25' } = ctx.query;
  const { label } = JSON.parse(String(filters)) as { label?: { eq?: string } };
  // A machine that is being destroyed leaves the list at once.
  const pods = fleet
    .listed()
    .filter((pod) => isOfDialect(pod, 'vast') && pod.status !== 'deleting')
    .filter((pod) => label?.eq === undefined || pod.name === label.eq);
  const from = Number(after);
  if (!Number.isInteger(from)) ctx.throw(400, 'invalid after_token');
  const to = from + Math.min(PAGE, Number(limit));
  const instances = pods.slice(from, to).map((pod) => instanceOf(pod, fleet));
  return {
    ...{ success: true, instances_found: instances.length, total_instances: pods.length, instances },
    next_token: to < pods.length ? String(to) : null,
  };
}

function instanceOf(pod: LabPod, { host, settings }: Fleet): Record<string, unknown> {
  const port = pod.status === 'active' ? (pod.shownPort ?? pod.port) : null;
  const offer = vastLabOffers.find(({ type, region }) => type === pod.type && region === pod.region);
  return {
    id: numberOf(pod),
    ...{ label: pod.name, actual_status: STATUSES[pod.status], intended_status: 'running' },
    ...{ status_msg: pod.statusDetails, image_uuid: pod.os, image_runtype: 'ssh_direct' },
    public_ipaddr: host,
    ports: port === null ? null : { '22/tcp': [{ HostIp: '0.0.0.0', HostPort: String(port) }] },
    ...{ ssh_host: 'ssh1.example.org', ssh_port: 10_000 },
    ...{ dph_total: pod.priceCents / 100, is_bid: false },
    ...vastUseOf(pod, offer),
    ...hardwareOf(pod, offer),
    start_date: pod.createdAtMs / 1_000,
    end_date: (pod.createdAtMs + settings.contractMs) / 1_000,
  };
}

/** Each offer is one host's machine. */
function machineIdOf(offer: LabOffer): number {
  return 5_000 + vastLabOffers.indexOf(offer);
}

/** An instance tells its machine with what is in it. */
function hardwareOf(pod: LabPod, offer: LabOffer | undefined): Record<string, unknown> {
  if (offer === undefined) return {};
  const shown =
    pod.isListedOtherwise === true
      ? ['RTX 3090', 24_576]
      : [GPU_NAMES[offer.gpuType], getLabGpu(offer).memoryMib];
  return { machine_id: machineIdOf(offer), gpu_name: shown[0], gpu_ram: shown[1] };
}
