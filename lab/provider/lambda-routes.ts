import { randomUUID } from 'node:crypto';
import Router from '@koa/router';
import Joi from 'joi';
import type { Context } from 'koa';
import { strikes, type Endpoint } from './faults.js';
import type { Fleet, NewPod } from './fleet.js';
import { getLabGpu, lambdaLabOffers, type LabOffer } from './offers.js';
import { refuseTooSoon } from './paces.js';
import { getPod, isSoldOut, readBody, refuseRequest } from './requests.js';
import { isOfDialect, type LabPod, type LabPodStatus, type LabSshKey, type LabStore } from './state.js';

interface LaunchBody {
  region_name: string;
  instance_type_name: string;
  ssh_key_names: [string];
  name?: string;
  tags: { key: string; value: string }[];
  image?: { family?: string };
  user_data?: string;
}

const MAX_USER_DATA = 1_000_000;
const DEFAULT_IMAGE = 'lambda-stack-22-04';
const IMAGES = ['lambda-stack-24-04', DEFAULT_IMAGE];

/** The fields of Lambda's launch that the lab knows, with their limits; it refuses any other. */
const launchSchema = Joi.object({
  region_name: Joi.string().required(),
  instance_type_name: Joi.string().required(),
  ssh_key_names: Joi.array().items(Joi.string()).length(1).required(),
  name: Joi.string().max(64),
  tags: Joi.array()
    .items({
      key: Joi.string()
        .pattern(/^[a-z][a-z0-9-:]+$/)
        .max(55)
        .required(),
      value: Joi.string().max(128).required(),
    })
    .default([]),
  image: Joi.object({ family: Joi.string().valid(...IMAGES) }),
  user_data: Joi.string().max(MAX_USER_DATA),
});

const keySchema = Joi.object({
  name: Joi.string().max(64).required(),
  public_key: Joi.string().max(4_096).required(),
});

const terminateSchema = Joi.object({ instance_ids: Joi.array().items(Joi.string()).min(1).required() });

const STATUSES: Readonly<Record<LabPodStatus, string>> = {
  creating: 'booting',
  pending_provider: 'booting',
  pending: 'booting',
  active: 'active',
  // Lambda has no word for a machine that never came up or broke down, but for one that it took back.
  error: 'preempted',
  deleting: 'terminating',
  deleted: 'terminated',
};

/** The codes by which Lambda tells a failure. */
const CODES = new Map([
  [400, 'global/invalid-parameters'],
  [401, 'global/invalid-api-key'],
  [403, 'global/account-inactive'],
  [404, 'global/object-does-not-exist'],
  [429, 'global/rate-limited'],
]);

/** The part of Lambda's API (v1) that the service uses, over the same machines and with the lab's faults. */
export function lambdaRoutes(fleet: Fleet, store: LabStore): Router {
  const router = new Router({ prefix: '/lambda/api/v1' });
  router.get('/instance-types', (ctx) => {
    refuse(ctx, fleet, 'offers');
    ctx.body = { data: instanceTypes() };
  });
  router.get('/instances', (ctx) => {
    refuse(ctx, fleet, 'list');
    const pods = fleet.listed().filter((pod) => isOfDialect(pod, 'lambda'));
    ctx.body = { data: pods.map((pod) => instanceOf(pod, fleet.host)) };
  });
  router.post('/instance-operations/launch', (ctx) => launch(ctx, fleet, store));
  router.post('/instance-operations/terminate', async (ctx) => {
    refuse(ctx, fleet, 'delete');
    const body = await readBody<{ instance_ids: string[] }>(ctx, terminateSchema);
    const pods = body.instance_ids.map((id) => getPod(ctx, fleet, id, 'lambda'));
    if (strikes(fleet.faults, 'failDelete')) ctx.throw(500, 'the lab was told to fail this terminate');
    await Promise.all(pods.map((pod) => fleet.remove(pod)));
    ctx.body = { data: { terminated_instances: pods.map((pod) => instanceOf(pod, fleet.host)) } };
  });
  router.get('/ssh-keys', (ctx) => {
    refuseTooSoon(ctx, fleet, 'lambda', 1_000);
    const present = ({ id, name, publicKey }: { id: string; name: string; publicKey: string }) => ({
      ...{ id, name, public_key: publicKey },
    });
    ctx.body = { data: store.state.lambdaKeys.map(present) };
  });
  router.post('/ssh-keys', async (ctx) => {
    refuseTooSoon(ctx, fleet, 'lambda', 1_000);
    const { name, public_key: publicKey } = await readBody<{ name: string; public_key: string }>(
      ctx,
      keySchema,
    );
    const id = randomUUID().replaceAll('-', '');
    store.state.lambdaKeys.push({ id, name, publicKey });
    await store.save();
    ctx.body = { data: { id, name, public_key: publicKey } };
  });
  return router;
}

/** Makes the body of a failure. */
export function lambdaFailureOf(status: number, message: string): unknown {
  return failureOf(CODES.get(status) ?? 'global/unknown', message);
}

function failureOf(code: string, message: string): unknown {
  return { error: { code, message, suggestion: 'Contact Support if problems continue.' } };
}

/** One request a second, whatever it is. */
function refuse(ctx: Context, fleet: Fleet, endpoint: Endpoint): void {
  refuseRequest(ctx, fleet, endpoint);
  refuseTooSoon(ctx, fleet, 'lambda', 1_000);
}

async function launch(ctx: Context, fleet: Fleet, store: LabStore): Promise<void> {
  const body = await readBody<LaunchBody>(ctx, launchSchema);
  refuse(ctx, fleet, 'create');
  refuseTooSoon(ctx, fleet, 'lambda launch', 12_000);
  const [keyName] = body.ssh_key_names;
  const key = store.state.lambdaKeys.find(({ name }) => name === keyName);
  if (key === undefined) ctx.throw(404, `SSH key ${keyName} does not exist.`);
  if (strikes(fleet.faults, 'noFunds')) ctx.throw(403, 'Your account is inactive.');
  const { region_name: region, instance_type_name: type } = body;
  const offer = lambdaLabOffers.find((each) => each.region === region && typeNameOf(each) === type);
  if (offer === undefined || isSoldOut(fleet, offer)) {
    ctx.status = 400;
    ctx.body = failureOf('instance-operations/launch/insufficient-capacity', 'Not enough capacity.');
    return;
  }
  const pod = await fleet.create(newPodOf(body, offer, key));
  if (strikes(fleet.faults, 'loseCreateAnswer')) {
    ctx.respond = false;
    return;
  }
  if (strikes(fleet.faults, 'failCreateAfterMake'))
    ctx.throw(500, 'the lab was told to fail after making the machine');
  ctx.body = { data: { instance_ids: [pod.id] } };
}

function newPodOf(body: LaunchBody, offer: LabOffer, key: LabSshKey): NewPod {
  const { name = '', tags, image, user_data: script } = body;
  return {
    ...{ dialect: 'lambda', offer, name, tags: tags.map(({ value }) => value) },
    ...{ os: image?.family ?? DEFAULT_IMAGE, sshKeyId: key.id, publicKey: key.publicKey },
    base64Script: script === undefined ? null : Buffer.from(script).toString('base64'),
    envs: [],
  };
}

/** Lambda's name of a type: gpu_8x_h100_sxm5. */
function typeNameOf({ gpuCount, gpuType, interconnect }: LabOffer): string {
  return `gpu_${gpuCount}x_${gpuType}_${interconnect}`.toLowerCase();
}

function typeOf(offer: LabOffer): Record<string, unknown> {
  const { vramGb } = getLabGpu(offer);
  const gpu = `${offer.gpuType} (${vramGb} GB ${offer.interconnect.toUpperCase()})`;
  const { gpuCount: gpus } = offer;
  return {
    ...{ name: typeNameOf(offer), description: `${gpus}x ${gpu}`, gpu_description: gpu },
    price_cents_per_hour: offer.priceCents,
    specs: { vcpus: gpus * 26, memory_gib: gpus * 225, storage_gib: gpus * 2_816, gpus },
  };
}

function instanceTypes(): Record<string, unknown> {
  return Object.fromEntries(
    lambdaLabOffers.map((offer) => {
      const here = lambdaLabOffers.filter((each) => typeNameOf(each) === typeNameOf(offer));
      const regions = here.map(({ region, label }) => ({ name: region, description: label }));
      return [typeNameOf(offer), { instance_type: typeOf(offer), regions_with_capacity_available: regions }];
    }),
  );
}

function instanceOf(pod: LabPod, host: string): Record<string, unknown> {
  const offer = lambdaLabOffers.find(({ type, region }) => type === pod.type && region === pod.region);
  const isUp = pod.status === 'active';
  return {
    ...{ id: pod.id, name: pod.name, status: STATUSES[pod.status] },
    // Its machines share an address, so the lab adds their ports.
    ...(isUp ? { ip: host, ssh_port: pod.shownPort ?? pod.port } : {}),
    ...{ ssh_key_names: ['test-machines'], file_system_names: [], hostname: `lab-${pod.id.slice(0, 8)}` },
    region: { name: pod.region, description: offer?.label ?? pod.region },
    instance_type: offer === undefined ? {} : { ...typeOf(offer), price_cents_per_hour: pod.priceCents },
    tags: pod.tags.map((value) => ({ key: 'gpu-rental', value })),
    actions: {},
  };
}
