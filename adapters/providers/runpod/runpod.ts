import { isTemplateId } from '../../../domain/catalog/templates.js';
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
import { CALL_LIMIT_MS, type ProviderOptions } from '../upstream/provider-options.js';
import type { RequestBudget } from '../upstream/request-budget.js';
import { readQuotas } from '../upstream/quotas.js';
import { readRunpodBalance } from './runpod-balance.js';
import { runpodMinCudaVersion, runpodTemplates } from './runpod-templates.js';
import { findOfferParts, findPod, priceCentsOf, readOffers, runpodCloud } from './runpod-wire.js';
import { bareKey, newPublicKey } from '../ssh/throw-away-keys.js';
import { podListOf } from '../upstream/pod-list.js';
import { createUpstream, isGone, type Upstream } from '../upstream/upstream.js';
import { errorOfAnswer } from '../upstream/upstream-errors.js';

/** As long as at other upstreams: a large image may have to be pulled before its daemon answers. */
const PROVISION_DEADLINE_MS = 20 * 60_000;
/**
 * The documentation does not say whether `cost` includes the container's disk: 50 GB at $0.10 a month each are 0.7
 * cents an hour.
 */
const DISK_CENTS = 1;

/**
 * RunPod's REST API (v2) as a Provider. Facts: its published OpenAPI description.
 * @param options.url the API's origin; the paths begin with /v2
 */
export function createRunpodProvider(options: ProviderOptions): Provider {
  const tagPrefix = `${options.deployment}-`;
  const odd = options.onOddity ?? (() => undefined);
  const upstream = createUpstream({
    url: options.url,
    headers: { authorization: `Bearer ${options.apiKey}` },
    timeoutMs: options.timeoutMs ?? CALL_LIMIT_MS,
    budget: options.budget,
    onRead: learnQuotas(options.budget, odd),
  });

  return {
    code: options.code,
    provisionDeadlineMs: PROVISION_DEADLINE_MS,
    priceToleranceCents: DISK_CENTS,
    templates: new Set(runpodTemplates.keys()),
    ...podListOf(upstream, {
      path: '/v2/pods',
      name: 'pods',
      findPod: (pod) => findPod(pod, tagPrefix, odd),
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
  return dearestOfEach(offers);
}

async function allocate(
  upstream: Upstream,
  tagPrefix: string,
  request: AllocationRequest,
): Promise<AllocatedPod> {
  const body = createBodyOf(request, tagPrefix);
  const answer = await upstream
    .call('creating a pod', {
      method: 'POST',
      path: '/v2/pods',
      body,
      untilMs: request.untilMs,
      effect: 'buys',
    })
    .catch(forThisOfferOnly);
  const pod = fieldsOf(answer.body);
  const podId = textField(pod, 'id');
  if (podId === null) throw errorOfAnswer('creating a pod: no id in the answer', 'buys', answer);
  return { podId, pricePerHourCents: priceCentsOf(pod) };
}

function createBodyOf(request: AllocationRequest, tagPrefix: string): unknown {
  const offer = findOfferParts(request.offerId);
  const template = isTemplateId(request.templateId) ? runpodTemplates.get(request.templateId) : undefined;
  if (offer === undefined || template === undefined) {
    throw new ProviderError(
      'refused',
      `no such offer or template: ${request.offerId}, ${request.templateId}`,
    );
  }
  if (!request.tag.startsWith(tagPrefix)) {
    // Such a pod would never be listed again, so it must not be bought.
    throw new ProviderError('refused', `a tag must begin with ${tagPrefix}: ${request.tag}`);
  }
  return {
    name: request.tag,
    image: template.image,
    gpu: { id: offer.gpuId, count: offer.gpuCount, minCudaVersion: runpodMinCudaVersion },
    cloud: runpodCloud,
    dataCenterIds: [offer.dataCenterId],
    ports: ['22/tcp'],
    startSsh: true,
    env: { PUBLIC_KEY: publicKeysOf(request) },
    disk: template.diskGb,
  };
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
