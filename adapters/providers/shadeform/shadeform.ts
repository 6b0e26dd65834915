import { MINUTE } from '../../../domain/durations.js';
import { isTemplateId, templates } from '../../../domain/catalog/templates.js';
import { reportedUse } from '../../../domain/machines/telemetry.js';
import { fetching, ownSoftwareId, type Software } from '../../../domain/rentals/software.js';
import { dearestOfEach } from '../offers/dearest-of-each.js';
import { fieldsOf, textField } from '../upstream/fields.js';
import { ProviderError, type AllocationRequest, type Provider, type Wait } from '../provider.js';
import { findOfferParts, findPod, osOptionsOf, priceCentsOf, readOffers } from './shadeform-wire.js';
import { startupScript } from '../startup-script.js';
import { clientOptionsOf, type ProviderOptions } from '../upstream/provider-options.js';
import { podListOf } from '../upstream/pod-list.js';
import { checkTag, noSuchOrder } from '../upstream/order-checks.js';
import { createUpstream, isGone, type Upstream } from '../upstream/upstream.js';
import { errorOfAnswer, throwBeforeBuying } from '../upstream/upstream-errors.js';
import {
  findFittingOs,
  shadeformOwnSoftware,
  shadeformTemplates,
  withToken,
  type PodTemplate,
} from '../offers/templates.js';
import { containerOf, SHADEFORM_HANDS_OVER_BYTES, shadeformSoftware } from './shadeform-software.js';
import {
  bareKey,
  createThrowAwayKeys,
  type ThrowAwayKey,
  type ThrowAwayKeys,
} from '../ssh/throw-away-keys.js';

/** These reads are optional, and the wallet is locked or a pod is being ended while they wait. */
const SIDE_READ_LIMIT_MS = 2_000;
/**
 * The upstream's own longest boot times begin at 10 minutes; where an offer tells a longer one, twice that is allowed.
 */
const PROVISION_DEADLINE_MS = 20 * MINUTE;

/**
 * The Shadeform API (v1) as a Provider. Facts: its published OpenAPI description and guides.
 * @param options.url the API's base address; `/v1` is added when it has no path
 */
export function createShadeformProvider(options: ProviderOptions): Provider {
  const tagPrefix = `${options.deployment}-`;
  const odd = options.onOddity ?? (() => undefined);
  const upstream = createUpstream({
    ...clientOptionsOf(options),
    url: withVersion(options.url),
    headers: { 'x-api-key': options.apiKey },
  });
  const keys = createThrowAwayKeys(upstream, tagPrefix);
  /** Operating systems by offer, from the last list that this process has read. */
  let osOptions = new Map<string, readonly string[]>();

  const pods = podListOf(upstream, {
    path: '/instances',
    name: 'instances',
    findPod: (instance) => findPod(instance, tagPrefix, odd),
  });

  return {
    code: options.code,
    provisionDeadlineMs: PROVISION_DEADLINE_MS,
    templates: new Set([...templates.map(({ id }) => id), ownSoftwareId]),
    software: options.machinesFetch
      ? fetching(shadeformSoftware, SHADEFORM_HANDS_OVER_BYTES)
      : shadeformSoftware,
    proof: 'machine',
    ...(options.machinesFetch && { telemetry: reportedUse }),
    ...pods,
    async listOffers() {
      const read = await upstream.list('listing offers', {
        path: '/instances/types?available=true',
        name: 'instance_types',
        read: (type) => readOffers(type, odd),
      });
      osOptions = new Map(read.map(({ offer, osOptions }) => [offer.offerId, osOptions]));
      return dearestOfEach(
        read.map(({ offer }) => offer),
        odd,
      );
    },
    allocate: (request) =>
      allocate({ upstream, keys, tagPrefix, request, osOptions: osOptions.get(request.offerId) }),
    async endBy(podId, at) {
      await upstream.call('renewing the date of a pod’s end', {
        method: 'POST',
        path: `/instances/${encodeURIComponent(podId)}/update`,
        body: autoDelete(at),
        use: 'renewing',
        repeatable: true,
      });
    },
    async terminate(podId, wait) {
      const path = `/instances/${encodeURIComponent(podId)}`;
      const keyId = await findKeyId(upstream, path, wait);
      await upstream.call('ending a pod', {
        method: 'POST',
        path: `${path}/delete`,
        repeatable: true,
        // Only the lists tell whether a pod is gone.
        accepts: isGone,
        ...wait,
      });
      if (keyId !== null) keys.removeLater(keyId);
      // Nobody waits for it.
      keys.sweepLater(async () => (await pods.listPods(() => undefined)).map((pod) => pod.tag));
    },
  };
}

async function allocate(deps: {
  readonly upstream: Upstream;
  readonly keys: ThrowAwayKeys;
  readonly request: AllocationRequest;
  readonly tagPrefix: string;
  /** undefined when this process has not listed the offer, but another one has. */
  readonly osOptions: readonly string[] | undefined;
}): Promise<{ podId: string; pricePerHourCents: number | null }> {
  const { upstream, keys, request } = deps;
  const { offer, template } = partsOf(request, deps.tagPrefix);
  const publicKeys = request.publicKeys.map(bareKey);
  const { untilMs } = request;
  const os = findFittingOs(template, deps.osOptions ?? (await readOsOptions(upstream, offer, { untilMs })));
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
    ...launchOf({ key, publicKeys, template, request }),
  };
  try {
    const answer = await upstream.call('creating a pod', {
      method: 'POST',
      path: '/instances/create',
      body,
      untilMs,
      effect: 'buys',
    });
    const podId = textField(fieldsOf(answer.body), 'id');
    if (podId === null) throw errorOfAnswer('creating a pod: no id in the answer', 'buys', answer);
    return {
      podId,
      pricePerHourCents:
        priceCentsOf(fieldsOf(answer.body)) ?? (await readPrice(upstream, podId, { untilMs })),
    };
  } catch (error) {
    // A pod that may exist needs its key until it is ended; the sweep finds the keys of pods that never existed.
    if (error instanceof ProviderError && error.kind !== 'unknown') keys.removeLater(key.keyId);
    throw error;
  }
}

/** Reads the parts of a request. @throws ProviderError refused for a request that is none */
function partsOf(request: AllocationRequest, tagPrefix: string) {
  const { offerId, templateId, tag, software } = request;
  const offer = findOfferParts(offerId);
  const template = findTemplate(templateId, software);
  if (offer === undefined || template === undefined) throw noSuchOrder(request);
  checkTag(tag, { prefix: tagPrefix });
  return { offer, template };
}

function findTemplate(id: string, software: Software | undefined): PodTemplate | undefined {
  if (id === ownSoftwareId) return software?.image ? shadeformOwnSoftware : undefined;
  return isTemplateId(id) ? shadeformTemplates[id] : undefined;
}

/** The upstream's own limit on the cost of a forgotten pod: it deletes the pod at this time. */
function autoDelete(at: Date): { auto_delete: { date_threshold: string } } {
  return { auto_delete: { date_threshold: at.toISOString() } };
}

/**
 * Reads the operating systems that an offer lists now; none when it is not listed.
 * @throws ProviderError, never `unknown`: nothing was bought
 */
async function readOsOptions(
  upstream: Upstream,
  { cloud, type }: { cloud: string; type: string },
  wait: Wait,
): Promise<string[]> {
  const query = new URLSearchParams({ cloud, shade_instance_type: type }).toString();
  try {
    const lists = await upstream.list('reading the operating systems of an offer', {
      path: `/instances/types?${query}`,
      name: 'instance_types',
      read: (listed) => [osOptionsOf(fieldsOf(listed))],
      ...wait,
    });
    return lists[0] ?? [];
  } catch (error) {
    return throwBeforeBuying(error);
  }
}

function launchOf(input: {
  readonly key: ThrowAwayKey;
  readonly publicKeys: readonly string[];
  readonly template: PodTemplate;
  readonly request: AllocationRequest;
}): object {
  const { publicKeys, request, template } = input;
  const { software, notebookToken, bootstrap, report, reporter } = request;
  const container = withToken(containerOf(template.container, software), notebookToken);
  const isPlain = container === null && software === undefined && report === undefined;
  if (publicKeys.length === 0 && isPlain && reporter === undefined) return {};
  const { publicKey: throwAwayKey } = input.key;
  const script = startupScript({
    throwAwayKey,
    publicKeys,
    container,
    software,
    bootstrap,
    report,
    reporter,
  });
  const base64_script = Buffer.from(script).toString('base64');
  return { launch_configuration: { type: 'script', script_configuration: { base64_script } } };
}

/** Reads the pod's real price. A failure does not undo the create: null. */
async function readPrice(upstream: Upstream, podId: string, wait: Wait): Promise<number | null> {
  const path = `/instances/${encodeURIComponent(podId)}/info`;
  const fields = await findFields(upstream, path, wait);
  return fields === undefined ? null : priceCentsOf(fields);
}

async function findKeyId(upstream: Upstream, path: string, wait: Wait = {}): Promise<string | null> {
  return textField((await findFields(upstream, `${path}/info`, wait)) ?? {}, 'ssh_key_id');
}

async function findFields(
  upstream: Upstream,
  path: string,
  wait: Wait,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  try {
    const answer = await upstream.call('reading a pod', {
      method: 'GET',
      path,
      timeoutMs: SIDE_READ_LIMIT_MS,
      ...wait,
    });
    return answer.status === 200 ? fieldsOf(answer.body) : undefined;
  } catch (error) {
    if (error instanceof ProviderError) return undefined;
    throw error;
  }
}

function withVersion(url: string): string {
  const base = new URL(url);
  return base.pathname === '/' ? new URL('/v1', base).href : base.href;
}
