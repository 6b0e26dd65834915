import { isTemplateId, templates } from '../../../domain/catalog/templates.js';
import { dearestOfEach } from '../offers/dearest-of-each.js';
import { fieldsOf, textField } from '../upstream/fields.js';
import { createHttpClient, HttpFailure, type HttpClient } from '../upstream/http-client.js';
import {
  ProviderError,
  type AllocationRequest,
  type Oddity,
  type Pod,
  type Provider,
  type Wait,
} from '../provider.js';
import { findOfferParts, findPod, osOptionsOf, priceCentsOf, readOffers } from './shadeform-wire.js';
import { startupScript } from '../startup-script.js';
import type { RequestBudget } from '../upstream/request-budget.js';
import { callUpstream, endAtUpstream, listFromUpstream } from '../upstream/upstream-call.js';
import { beforeBuying, errorOfAnswer } from '../upstream/upstream-errors.js';
import { findFittingOs, shadeformTemplates, type PodTemplate } from '../offers/templates.js';
import {
  bareKey,
  createThrowAwayKeys,
  type ThrowAwayKey,
  type ThrowAwayKeys,
} from '../ssh/throw-away-keys.js';

/** Decision 20: each call at most 5 s. */
const CALL_LIMIT_MS = 5_000;
/** Nothing hangs on these reads, and the wallet is locked or a pod is being ended while they wait. */
const SIDE_READ_LIMIT_MS = 2_000;
/** Its own longest boot times begin at 10 minutes; where an offer tells a longer one, it has twice that. */
const PROVISION_DEADLINE_MS = 20 * 60_000;

export interface ShadeformOptions {
  /** Shown to users as `providerCode`; the cloud behind it stays inside the offer's id. */
  readonly code: string;
  /** The API's base address; `/v1` is added when it has no path. */
  readonly url: string;
  readonly apiKey: string;
  /** Every tag of ours begins with this and a hyphen; pods without it are never listed nor ended (decision 22). */
  readonly deployment: string;
  /** The limit of each call. */
  readonly timeoutMs?: number;
  /** How many requests may be sent; as many as there are unless told. */
  readonly budget?: RequestBudget | undefined;
  /** Hears of what was skipped or not understood in answers; called once for each piece. */
  readonly onOddity?: (oddity: Oddity) => void;
}

/** The Shadeform API (v1) as a Provider. Facts: its published OpenAPI description and guides. */
export function createShadeformProvider(options: ShadeformOptions): Provider {
  const tagPrefix = `${options.deployment}-`;
  const odd = options.onOddity ?? (() => undefined);
  const http = createHttpClient({
    url: withVersion(options.url),
    headers: { 'x-api-key': options.apiKey },
    timeoutMs: options.timeoutMs ?? CALL_LIMIT_MS,
    budget: options.budget,
  });
  const keys = createThrowAwayKeys(http, tagPrefix);
  /** Operating systems by offer, from the last list that this process has read. */
  let osOptions = new Map<string, readonly string[]>();

  const podsRequest = {
    path: '/instances',
    name: 'instances',
    read: (instance: unknown) => [findPod(instance, tagPrefix, odd) ?? []].flat(),
  };
  const listPods = (): Promise<Pod[]> => listFromUpstream(http, 'listing pods', podsRequest);

  return {
    code: options.code,
    provisionDeadlineMs: PROVISION_DEADLINE_MS,
    templates: new Set(templates.map(({ id }) => id)),
    listPods,
    async listOffers() {
      const read = await listFromUpstream(http, 'listing offers', {
        path: '/instances/types?available=true',
        name: 'instance_types',
        read: (type) => readOffers(type, odd),
      });
      osOptions = new Map(read.map(({ offer, osOptions }) => [offer.offerId, osOptions]));
      return dearestOfEach(read.map(({ offer }) => offer));
    },
    allocate: (request) =>
      allocate({ http, keys, tagPrefix, request, osOptions: osOptions.get(request.offerId) }),
    async find(tag, wait) {
      const isWanted = (pod: Pod): boolean => pod.tag === tag;
      const pods = await listFromUpstream(http, 'finding a pod', { ...podsRequest, ...wait, isWanted });
      return pods.find(isWanted);
    },
    async endBy(podId, at) {
      const path = `/instances/${encodeURIComponent(podId)}/update`;
      const request = { method: 'POST', path, body: autoDelete(at), repeatable: true } as const;
      await callUpstream(http, 'renewing the date of a pod’s end', 'buys_nothing', request);
    },
    async terminate(podId, wait) {
      const path = `/instances/${encodeURIComponent(podId)}`;
      const keyId = await findKeyId(http, path, wait);
      await endAtUpstream(http, { method: 'POST', path: `${path}/delete`, ...wait });
      if (keyId !== null) keys.removeLater(keyId);
      keys.sweepLater(async () => (await listPods()).map((pod) => pod.tag));
    },
  };
}

async function allocate(deps: {
  readonly http: HttpClient;
  readonly keys: ThrowAwayKeys;
  readonly request: AllocationRequest;
  readonly tagPrefix: string;
  /** undefined when this process has not listed the offer: another one has. */
  readonly osOptions: readonly string[] | undefined;
}): Promise<{ podId: string; pricePerHourCents: number | null }> {
  const { http, keys, request } = deps;
  const { offer, template } = partsOf(request, deps.tagPrefix);
  const publicKeys = request.publicKeys.map(bareKey);
  const { untilMs } = request;
  const os = findFittingOs(template, deps.osOptions ?? (await readOsOptions(http, offer, { untilMs })));
  if (os === undefined) {
    throw new ProviderError(
      'no_capacity',
      `${request.offerId} can't be had with ${request.templateId} any more`,
    );
  }
  const key = await keys.add(request.tag, { untilMs });
  const body = {
    cloud: offer.cloud,
    region: offer.region,
    shade_instance_type: offer.type,
    shade_cloud: true,
    name: request.tag,
    tags: [request.tag],
    ssh_key_id: key.keyId,
    ...(request.endBy === null ? {} : autoDelete(request.endBy)),
    os,
    ...launchOf({ key, publicKeys, template }),
  };
  try {
    const answer = await callUpstream(http, 'creating a pod', 'buys', {
      method: 'POST',
      path: '/instances/create',
      body,
      untilMs,
    });
    const podId = textField(fieldsOf(answer.body), 'id');
    if (podId === null) throw errorOfAnswer('creating a pod: no id in the answer', 'buys', answer);
    return {
      podId,
      pricePerHourCents: priceCentsOf(fieldsOf(answer.body)) ?? (await readPrice(http, podId, { untilMs })),
    };
  } catch (error) {
    // A pod that may exist needs its key until it is ended; the sweep finds the keys of those that never did.
    if (error instanceof ProviderError && error.kind !== 'unknown') keys.removeLater(key.keyId);
    throw error;
  }
}

/** @throws ProviderError refused for a request that is none */
function partsOf({ offerId, templateId, tag }: AllocationRequest, tagPrefix: string) {
  const offer = findOfferParts(offerId);
  if (offer === undefined || !isTemplateId(templateId)) {
    throw new ProviderError('refused', `no such offer or template: ${offerId}, ${templateId}`);
  }
  if (!tag.startsWith(tagPrefix)) {
    // Such a pod would never be listed again: it must not be bought.
    throw new ProviderError('refused', `a tag must begin with ${tagPrefix}: ${tag}`);
  }
  return { offer, template: shadeformTemplates[templateId] };
}

/** The upstream's own limit on what a forgotten pod may cost: it deletes the pod at this time. */
function autoDelete(at: Date): { auto_delete: { date_threshold: string } } {
  return { auto_delete: { date_threshold: at.toISOString() } };
}

/**
 * The operating systems that an offer lists now; none when it is not listed.
 * @throws ProviderError, never `unknown`: nothing was bought
 */
async function readOsOptions(
  http: HttpClient,
  { cloud, type }: { cloud: string; type: string },
  wait: Wait,
): Promise<string[]> {
  const query = new URLSearchParams({ cloud, shade_instance_type: type }).toString();
  try {
    const lists = await listFromUpstream(http, 'reading the operating systems of an offer', {
      path: `/instances/types?${query}`,
      name: 'instance_types',
      read: (listed) => [osOptionsOf(fieldsOf(listed))],
      ...wait,
    });
    return lists[0] ?? [];
  } catch (error) {
    throw error instanceof ProviderError ? beforeBuying(error) : error;
  }
}

function launchOf(input: { key: ThrowAwayKey; publicKeys: readonly string[]; template: PodTemplate }): {
  launch_configuration?: unknown;
} {
  const { container } = input.template;
  if (input.publicKeys.length === 0 && container === null) return {};
  const script = startupScript({
    throwAwayKey: input.key.publicKey,
    publicKeys: input.publicKeys,
    container,
  });
  const base64_script = Buffer.from(script).toString('base64');
  return { launch_configuration: { type: 'script', script_configuration: { base64_script } } };
}

/** The price that the pod really costs. That it can't be read does not undo the create: null. */
async function readPrice(http: HttpClient, podId: string, wait: Wait): Promise<number | null> {
  const path = `/instances/${encodeURIComponent(podId)}/info`;
  const fields = await findFields(http, path, wait);
  return fields === undefined ? null : priceCentsOf(fields);
}

async function findKeyId(http: HttpClient, path: string, wait: Wait = {}): Promise<string | null> {
  return textField((await findFields(http, `${path}/info`, wait)) ?? {}, 'ssh_key_id');
}

async function findFields(
  http: HttpClient,
  path: string,
  wait: Wait,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  try {
    const answer = await http.request({ method: 'GET', path, timeoutMs: SIDE_READ_LIMIT_MS, ...wait });
    return answer.status === 200 ? fieldsOf(answer.body) : undefined;
  } catch (error) {
    if (error instanceof HttpFailure || error instanceof ProviderError) return undefined;
    throw error;
  }
}

function withVersion(url: string): string {
  const base = new URL(url);
  return base.pathname === '/' ? new URL('/v1', base).href : base.href;
}
