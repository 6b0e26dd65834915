import { MINUTE } from '../../../domain/durations.js';
import { isTemplateId } from '../../../domain/catalog/templates.js';
import { fetching, noSoftware, ownSoftwareId } from '../../../domain/rentals/software.js';
import { catalogLimits } from '../../../domain/catalog/limits.js';
import { dearestOfEach } from '../offers/dearest-of-each.js';
import { fieldsOf, textField } from '../upstream/fields.js';
import {
  ProviderError,
  type AllocatedPod,
  type AllocationRequest,
  type Oddity,
  type Offer,
  type Provider,
} from '../provider.js';
import { clientOptionsOf, type ProviderOptions } from '../upstream/provider-options.js';
import type { RequestBudget } from '../upstream/request-budget.js';
import { readQuotas } from '../upstream/quotas.js';
import { readRunpodBalance } from './runpod-balance.js';
import { runpodMinCudaVersion, runpodTemplates } from './runpod-templates.js';
import { addRegistry, registriesOf } from './runpod-registries.js';
import { commandOf, runpodProxyUrl, runpodSoftware } from './runpod-software.js';
import { findOfferParts, findPod, priceCentsOf, readOffers, runpodCloud } from './runpod-wire.js';
import { bareKey, newPublicKey } from '../ssh/throw-away-keys.js';
import { podListOf } from '../upstream/pod-list.js';
import { checkTag, noSuchOrder } from '../upstream/order-checks.js';
import { createUpstream, isGone, type Upstream } from '../upstream/upstream.js';
import { errorOfAnswer } from '../upstream/upstream-errors.js';

/** As long as at other upstreams: a large image may have to be pulled before its daemon answers. */
const PROVISION_DEADLINE_MS = 20 * MINUTE;
/** The documentation does not say whether `cost` includes the container's disk: $0.10 a GB and month. */
const DISK_CENTS_PER_GB_HOUR = 10 / 730;
const DISK_GB = 50;

/**
 * RunPod's REST API (v2) as a Provider. Facts: its published OpenAPI description.
 * @param options.url the API's origin; the paths begin with /v2
 */
export function createRunpodProvider(options: ProviderOptions): Provider {
  const tagPrefix = `${options.deployment}-`;
  const odd = options.onOddity ?? (() => undefined);
  const upstream = createUpstream({
    ...clientOptionsOf(options),
    onRead: learnQuotas(options.budget, odd),
  });

  return {
    code: options.code,
    provisionDeadlineMs: PROVISION_DEADLINE_MS,
    diskPrice: { centsPerGbHour: DISK_CENTS_PER_GB_HOUR, usualGb: DISK_GB },
    templates: new Set([...runpodTemplates.keys(), ownSoftwareId]),
    software: options.machinesFetch
      ? fetching(runpodSoftware, runpodSoftware.scriptMaxBytes ?? 0)
      : runpodSoftware,
    tellsRestarts: true,
    telemetry: { cpu: true, network: false, sessions: false },
    ...podListOf(upstream, {
      path: '/v2/pods',
      name: 'pods',
      findPod: (pod) => findPod(pod, { tagPrefix, proxyUrl: options.proxyUrl ?? runpodProxyUrl }, odd),
    }),
    listOffers: () => listOffers(upstream, onceEach(odd)),
    allocate: (request) => allocate(upstream, tagPrefix, request),
    async terminate(podId, wait) {
      await upstream.call('ending a pod', {
        method: 'DELETE',
        path: `/v2/pods/${encodeURIComponent(podId)}`,
        repeatable: true,
        // Only the lists tell whether a pod is gone.
        accepts: isGone,
        ...wait,
      });
    },
    credentials: registriesOf(upstream, tagPrefix),
    async pace(read) {
      return (await options.budget?.pace(read === 'offers' ? catalogLimits.gpuCounts.length : 1)) ?? 0;
    },
    readBalance: () => readRunpodBalance(upstream),
  };
}

/** Each answer tells the state of the account's quotas, unless the account has none (the published description). */
function learnQuotas(
  budget: RequestBudget | undefined,
  odd: (oddity: Oddity) => void,
): ((headers: Headers) => Promise<void>) | undefined {
  if (budget === undefined) return undefined;
  const oddOnce = onceEach(odd);
  return async (headers) => {
    const windows = readQuotas(headers, (header) =>
      oddOnce({ kind: 'malformed', subject: `header ${header}` }),
    );
    // The next answer tells it again: a failure to keep it is no reason to lose this answer.
    if (windows.length > 0) await budget.learn(windows).catch(() => undefined);
  };
}

/** Lists offers, one count of GPUs at a time. A part is not a whole catalog: one failure fails them all. */
async function listOffers(upstream: Upstream, odd: (oddity: Oddity) => void): Promise<Offer[]> {
  const offers: Offer[] = [];
  for (const count of catalogLimits.gpuCounts) {
    const query = new URLSearchParams({
      include: 'AVAILABILITY',
      product: 'POD',
      count: String(count),
      cloud: runpodCloud,
      minCudaVersion: runpodMinCudaVersion,
    });
    const path = `/v2/catalog/gpus?${query.toString()}`;
    const read = (gpu: unknown): Offer[] => readOffers(gpu, count, odd);
    offers.push(...(await upstream.list(`listing offers of ${count} GPUs`, { path, name: 'gpus', read })));
  }
  return dearestOfEach(offers, odd);
}

async function allocate(
  upstream: Upstream,
  tagPrefix: string,
  request: AllocationRequest,
): Promise<AllocatedPod> {
  const body = createBodyOf(request, tagPrefix);
  const registryAuth = request.software?.registryAuth ?? null;
  const registry =
    registryAuth && (await addRegistry(upstream, request.tag, registryAuth, { untilMs: request.untilMs }));
  const answer = await upstream
    .call('creating a pod', {
      method: 'POST',
      path: '/v2/pods',
      body: registry === null ? body : { ...body, registry },
      untilMs: request.untilMs,
      effect: 'buys',
    })
    .catch(forThisOfferOnly);
  const pod = fieldsOf(answer.body);
  const podId = textField(pod, 'id');
  if (podId === null) throw errorOfAnswer('creating a pod: no id in the answer', 'buys', answer);
  return { podId, pricePerHourCents: priceCentsOf(pod) };
}

function createBodyOf(request: AllocationRequest, tagPrefix: string): object {
  const offer = findOfferParts(request.offerId);
  const start = startOf(request);
  if (offer === undefined || start === undefined) {
    throw noSuchOrder(request);
  }
  checkTag(request.tag, { prefix: tagPrefix });
  return {
    name: request.tag,
    gpu: { id: offer.gpuId, count: offer.gpuCount, minCudaVersion: runpodMinCudaVersion },
    cloud: runpodCloud,
    dataCenterIds: [offer.dataCenterId],
    ...start,
  };
}

/** What the pod starts: the template or the renter's image, with the ports that are opened; undefined for neither. */
function startOf(request: AllocationRequest): object | undefined {
  const { templateId, software = noSoftware } = request;
  const template = isTemplateId(templateId) ? runpodTemplates.get(templateId) : undefined;
  const image = templateId === ownSoftwareId ? software.image : template?.image;
  if (!image) return undefined;
  const { diskGb } = software;
  const args = commandOf(software, request.bootstrap);
  return {
    image,
    ...(args !== undefined && { args }),
    ...openedOf(request),
    env: envOf(request),
    disk: diskGb ?? template?.diskGb ?? DISK_GB,
  };
}

function envOf(request: AllocationRequest): Record<string, string> {
  const { software = noSoftware, bootstrap, notebookToken } = request;
  return {
    // What is fetched has them.
    ...(bootstrap ? {} : software.env),
    PUBLIC_KEY: publicKeysOf(request),
    ...(notebookToken !== undefined && { JUPYTER_PASSWORD: notebookToken }),
  };
}

/** An image of the renter's own need not have a daemon: without keys of theirs nobody enters it. */
function openedOf({ templateId, software = noSoftware, publicKeys }: AllocationRequest) {
  const startSsh = templateId !== ownSoftwareId || publicKeys.length > 0;
  const opened = software.ports.filter((port) => port.public).map(({ port, kind }) => `${port}/${kind}`);
  return { ports: [...(startSsh ? ['22/tcp'] : []), ...opened], startSsh };
}

/** 403 says only that this pool is closed to the account: another offer may be available. */
function forThisOfferOnly(error: unknown): never {
  if (!(error instanceof ProviderError) || error.details.status !== 403) throw error;
  throw new ProviderError('no_capacity', error.message, error.details, { cause: error });
}

/**
 * Returns the lines of the pod's authorized_keys. Without this variable RunPod would put the account's own registered
 * keys there. So it is always set, with a key that nobody can use (decision 14, "SSH keys").
 */
function publicKeysOf(request: AllocationRequest): string {
  return [newPublicKey(), ...request.publicKeys.map(bareKey)].join('\n');
}

/** Tells of a product once, although the list of each count has it. */
function onceEach(odd: (oddity: Oddity) => void): (oddity: Oddity) => void {
  const told = new Set<string>();
  return (oddity) => {
    const key = `${oddity.kind} ${oddity.subject}`;
    if (!told.has(key)) odd(oddity);
    told.add(key);
  };
}
