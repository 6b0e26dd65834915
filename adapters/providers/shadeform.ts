import { isTemplateId } from '../../domain/templates.js';
import { fieldsOf, findList, textField } from './fields.js';
import {
  createHttpClient,
  HttpFailure,
  type HttpAnswer,
  type HttpClient,
  type HttpRequest,
} from './http-client.js';
import { ProviderError, type AllocationRequest, type Offer, type Pod, type Provider } from './provider.js';
import { errorOfAnswer, errorOfFailure, type CallEffect } from './shadeform-errors.js';
import {
  findOfferParts,
  findPod,
  priceCentsOf,
  readOffers,
  type Oddity,
  type WireOffer,
} from './shadeform-wire.js';
import { startupScript } from './startup-script.js';
import { shadeformTemplates, type PodTemplate } from './templates.js';
import { bareKey, createThrowAwayKeys, type ThrowAwayKey, type ThrowAwayKeys } from './throw-away-keys.js';

/** Decision 20: each call at most 5 s. */
const CALL_LIMIT_MS = 5_000;
/** Nothing hangs on these reads, and the wallet is locked or a pod is being ended while they wait. */
const SIDE_READ_LIMIT_MS = 2_000;
/** Shadeform's own estimates of the boot time reach 10 minutes. */
const PROVISION_DEADLINE_MS = 10 * 60_000;

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
  });
  const keys = createThrowAwayKeys(http, tagPrefix);
  /** Operating systems by offer, from the last list: a preference only, so that not knowing them costs nothing. */
  let osOptions = new Map<string, readonly string[]>();

  async function listPods(): Promise<Pod[]> {
    const answer = await call(http, 'listing pods', 'buys_nothing', { method: 'GET', path: '/instances' });
    const instances = listOf(answer, 'instances', 'listing pods');
    return instances.flatMap((instance) => findPod(instance, tagPrefix, odd) ?? []);
  }

  return {
    code: options.code,
    provisionDeadlineMs: PROVISION_DEADLINE_MS,
    listPods,
    async listOffers() {
      const request: HttpRequest = { method: 'GET', path: '/instances/types?available=true' };
      const answer = await call(http, 'listing offers', 'buys_nothing', request);
      const read = listOf(answer, 'instance_types', 'listing offers').flatMap((type) =>
        readOffers(type, odd),
      );
      osOptions = new Map(read.map(({ offer, osOptions }) => [offer.offerId, osOptions]));
      return dearestOfEach(read);
    },
    allocate: (request) =>
      allocate({ http, keys, tagPrefix, request, osOptions: osOptions.get(request.offerId) ?? [] }),
    async find(tag) {
      return (await listPods()).find((pod) => pod.tag === tag);
    },
    async terminate(podId) {
      const path = `/instances/${encodeURIComponent(podId)}`;
      const keyId = await findKeyId(http, path);
      await end(http, path);
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
  readonly osOptions: readonly string[];
}): Promise<{ podId: string; pricePerHourCents: number | null }> {
  const { http, keys, request } = deps;
  const offer = findOfferParts(request.offerId);
  if (offer === undefined || !isTemplateId(request.templateId)) {
    throw new ProviderError(
      'refused',
      `no such offer or template: ${request.offerId}, ${request.templateId}`,
    );
  }
  if (!request.tag.startsWith(deps.tagPrefix)) {
    // Such a pod would never be listed again: it must not be bought.
    throw new ProviderError('refused', `a tag must begin with ${deps.tagPrefix}: ${request.tag}`);
  }
  const template = shadeformTemplates[request.templateId];
  const publicKeys = request.publicKeys.map(bareKey);
  const key = await keys.add(request.tag);
  const body = {
    cloud: offer.cloud,
    region: offer.region,
    shade_instance_type: offer.type,
    shade_cloud: true,
    name: request.tag,
    tags: [request.tag],
    ssh_key_id: key.keyId,
    ...chosenOs(template, deps.osOptions),
    ...launchOf({ key, publicKeys, template }),
  };
  try {
    const answer = await call(http, 'creating a pod', 'buys', {
      method: 'POST',
      path: '/instances/create',
      body,
    });
    const podId = textField(fieldsOf(answer.body), 'id');
    if (podId === null) throw errorOfAnswer('creating a pod: no id in the answer', 'buys', answer);
    return {
      podId,
      pricePerHourCents: priceCentsOf(fieldsOf(answer.body)) ?? (await readPrice(http, podId)),
    };
  } catch (error) {
    // A pod that may exist needs its key until it is ended; the sweep finds the keys of those that never did.
    if (error instanceof ProviderError && error.kind !== 'unknown') keys.removeLater(key.keyId);
    throw error;
  }
}

function chosenOs(template: PodTemplate, osOptions: readonly string[]): { os?: string } {
  for (const preferred of template.osPreference) {
    const os = osOptions.find((option) => option.startsWith(preferred));
    if (os !== undefined) return { os };
  }
  return {};
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
async function readPrice(http: HttpClient, podId: string): Promise<number | null> {
  const path = `/instances/${encodeURIComponent(podId)}/info`;
  const fields = await findFields(http, path);
  return fields === undefined ? null : priceCentsOf(fields);
}

async function findKeyId(http: HttpClient, path: string): Promise<string | null> {
  return textField((await findFields(http, `${path}/info`)) ?? {}, 'ssh_key_id');
}

async function findFields(
  http: HttpClient,
  path: string,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  try {
    const answer = await http.request({ method: 'GET', path, timeoutMs: SIDE_READ_LIMIT_MS });
    return answer.status === 200 ? fieldsOf(answer.body) : undefined;
  } catch (error) {
    if (error instanceof HttpFailure) return undefined;
    throw error;
  }
}

/** Asks for the end. A pod that is not there is fine here; whether it is gone only the lists tell. */
async function end(http: HttpClient, path: string): Promise<void> {
  try {
    await call(http, 'ending a pod', 'buys_nothing', {
      method: 'POST',
      path: `${path}/delete`,
      repeatable: true,
    });
  } catch (error) {
    const status = error instanceof ProviderError ? error.details.status : undefined;
    if (status !== 404 && status !== 410) throw error;
  }
}

/** One request whose answer must be a success. @throws ProviderError */
async function call(
  http: HttpClient,
  what: string,
  effect: CallEffect,
  request: HttpRequest,
): Promise<HttpAnswer> {
  let answer: HttpAnswer;
  try {
    answer = await http.request(request);
  } catch (error) {
    throw error instanceof HttpFailure ? errorOfFailure(what, effect, error) : error;
  }
  if (answer.status < 200 || answer.status >= 300) throw errorOfAnswer(what, effect, answer);
  return answer;
}

/** The list in an answer. An answer without one says nothing: it must not look like "nothing exists". */
function listOf(answer: HttpAnswer, name: string, what: string): readonly unknown[] {
  const list = findList(fieldsOf(answer.body), name);
  if (list === undefined) throw errorOfAnswer(`${what}: no ${name} in the answer`, 'buys_nothing', answer);
  return list;
}

/** Should the upstream ever list one offer twice, the dearer price stands: the price never rises after the answer. */
function dearestOfEach(read: readonly WireOffer[]): Offer[] {
  const offers = new Map<string, Offer>();
  for (const { offer } of read) {
    const known = offers.get(offer.offerId);
    if (known === undefined || known.pricePerHourCents < offer.pricePerHourCents)
      offers.set(offer.offerId, offer);
  }
  return [...offers.values()];
}

function withVersion(url: string): string {
  const base = new URL(url);
  return base.pathname === '/' ? new URL('/v1', base).href : base.href;
}
