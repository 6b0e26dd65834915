import { isTemplateId, templates } from '../../../domain/catalog/templates.js';
import { MINUTE, SECOND } from '../../../domain/durations.js';
import { reportedUse } from '../../../domain/machines/telemetry.js';
import { fetching, softwareLimits } from '../../../domain/rentals/software.js';
import { dearestOfEach } from '../offers/dearest-of-each.js';
import { shadeformTemplates, withToken } from '../offers/templates.js';
import {
  ProviderError,
  type AllocatedPod,
  type AllocationRequest,
  type Provider,
  type ProviderErrorKind,
  type Wait,
} from '../provider.js';
import { containerOf } from '../shadeform/shadeform-software.js';
import { bareKey, newPublicKey } from '../ssh/throw-away-keys.js';
import { startupScript } from '../startup-script.js';
import { fieldsOf, textField, textsField } from '../upstream/fields.js';
import { clientOptionsOf, type ProviderOptions } from '../upstream/provider-options.js';
import { checkTag, noSuchOrder } from '../upstream/order-checks.js';
import { createUpstream, isGone, type Upstream } from '../upstream/upstream.js';
import { errorOfAnswer, outOfTurn, throwBeforeBuying } from '../upstream/upstream-errors.js';
import { lambdaSoftware } from './lambda-software.js';
import { findOfferParts, findPod, readOffers, TAG_KEY } from './lambda-wire.js';
import { shared } from './shared-list.js';

/** Large machines boot for longer than at upstreams that start containers. */
const PROVISION_DEADLINE_MS = 30 * MINUTE;
/** Ubuntu 24.04 with driver, CUDA and a container runtime. */
const IMAGE_FAMILY = 'lambda-stack-24-04';

/**
 * One request a second and a launch each 12 s, and a little more, since two requests are not equally long on their way.
 * Half of the seconds are kept for launching and ending machines.
 */
const LAUNCH_EVERY_MS = 12.5 * SECOND;
const all = { name: 'all', everyMs: 1.1 * SECOND };
const reads = [{ name: 'reads', everyMs: 2.2 * SECOND }, all];
const launches = [{ name: 'launch', everyMs: LAUNCH_EVERY_MS, failsOutOfTurn: true }, all];

/** The kinds of a launch's failures, by the codes of the published description; all others go by their status. */
const KINDS: ReadonlyMap<string, ProviderErrorKind> = new Map([
  ['instance-operations/launch/insufficient-capacity', 'no_capacity'],
  ['global/object-does-not-exist', 'no_capacity'],
  ['global/invalid-parameters', 'refused'],
  ['global/quota-exceeded', 'refused'],
]);

/**
 * The Lambda Cloud API (v1) as a Provider. Facts: its published OpenAPI description.
 * @param options.url the API's origin; the paths begin with /api/v1
 */
export function createLambdaProvider(options: ProviderOptions): Provider {
  const tagPrefix = `${options.deployment}-`;
  const odd = options.onOddity ?? (() => undefined);
  const upstream = createUpstream(clientOptionsOf(options));
  const key = createInstallationKey(upstream, `${options.deployment}-machines`);
  const listPods = shared((onPart) =>
    upstream.list('listing pods', {
      ...{ path: '/api/v1/instances', name: 'data', paces: reads, onPart },
      read: (instance) => [findPod(instance, tagPrefix, odd) ?? []].flat(),
    }),
  );

  return {
    code: options.code,
    provisionDeadlineMs: PROVISION_DEADLINE_MS,
    createEveryMs: LAUNCH_EVERY_MS,
    templates: new Set(templates.map(({ id }) => id)),
    // It takes any script whole.
    software: options.machinesFetch
      ? fetching(lambdaSoftware, softwareLimits.scriptMaxBytes)
      : lambdaSoftware,
    proof: 'machine',
    ...(options.machinesFetch && { telemetry: reportedUse }),
    listPods: (tell) => listPods({}, tell),
    find: async (tag, wait) => (await listPods(wait)).find((pod) => pod.tag === tag),
    async listOffers() {
      const what = 'listing offers';
      const answer = await upstream.call(what, {
        ...{ method: 'GET', path: '/api/v1/instance-types', paces: reads },
      });
      const { data } = fieldsOf(answer.body);
      if (typeof data !== 'object' || data === null)
        throw errorOfAnswer(`${what}: no data in the answer`, 'buys_nothing', answer);
      return dearestOfEach(
        Object.values(data).flatMap((type) => readOffers(type, odd)),
        odd,
      );
    },
    allocate: (request) => allocate(upstream, key, tagPrefix, request),
    async terminate(podId, wait) {
      await upstream.call('ending a pod', {
        ...{ method: 'POST', path: '/api/v1/instance-operations/terminate', body: { instance_ids: [podId] } },
        ...{ paces: [all], repeatable: true },
        // Only the lists tell whether a pod is gone.
        accepts: isGone,
        ...wait,
      });
    },
  };
}

/** The one registered key of this installation. */
interface InstallationKey {
  /** Returns its name and public half; it registers one where there is none. @throws ProviderError, never `unknown` */
  get(wait: Wait): Promise<{ readonly name: string; readonly publicKey: string }>;
  /** It is looked for again by the next launch. */
  forget(): void;
}

/**
 * Makes the key that each launch must name: registered keys are the account's, so one that nobody holds serves all
 * machines, and the renters' keys come by the startup script (decision 14, "SSH keys").
 */
function createInstallationKey(upstream: Upstream, name: string): InstallationKey {
  let known: { readonly name: string; readonly publicKey: string } | undefined;
  const find = async (wait: Wait): Promise<string | undefined> => {
    const found = await upstream.list('listing keys', {
      ...{ path: '/api/v1/ssh-keys', name: 'data', paces: [all], ...wait },
      read: (value) => {
        const key = fieldsOf(value);
        return textField(key, 'name') === name ? [textField(key, 'public_key') ?? ''] : [];
      },
    });
    return found[0];
  };
  const add = async (wait: Wait): Promise<string> => {
    const publicKey = newPublicKey();
    await upstream.call('registering a key', {
      ...{ method: 'POST', path: '/api/v1/ssh-keys', body: { name, public_key: publicKey } },
      ...{ paces: [all], repeatable: true, ...wait },
    });
    return publicKey;
  };
  return {
    async get(wait) {
      try {
        known ??= { name, publicKey: bareKey((await find(wait)) ?? (await add(wait))) };
        return known;
      } catch (error) {
        throwBeforeBuying(error);
      }
    },
    forget() {
      known = undefined;
    },
  };
}

async function allocate(
  upstream: Upstream,
  key: InstallationKey,
  tagPrefix: string,
  request: AllocationRequest,
): Promise<AllocatedPod> {
  const { offer, container } = partsOf(request, tagPrefix);
  const { untilMs, software, bootstrap, report, reporter } = request;
  const publicKeys = request.publicKeys.map(bareKey);
  const { name, publicKey } = await key.get({ untilMs });
  const body = {
    region_name: offer.region,
    instance_type_name: offer.type,
    ssh_key_names: [name],
    name: request.tag,
    tags: [{ key: TAG_KEY, value: request.tag }],
    image: { family: IMAGE_FAMILY },
    user_data: startupScript({
      ...{ throwAwayKey: publicKey, publicKeys, container, software, bootstrap, report, reporter },
    }),
  };
  const answer = await upstream
    .call('creating a pod', {
      ...{ method: 'POST', path: '/api/v1/instance-operations/launch', body, untilMs },
      ...{ effect: 'buys', paces: launches },
    })
    .catch((error: unknown) => {
      key.forget();
      throw sorted(error);
    });
  const [podId] = textsField(fieldsOf(fieldsOf(answer.body)['data']), 'instance_ids');
  if (podId === undefined) throw errorOfAnswer('creating a pod: no id in the answer', 'buys', answer);
  return { podId, pricePerHourCents: null };
}

/** Reads the parts of a request. @throws ProviderError refused for a request that is none */
function partsOf(request: AllocationRequest, tagPrefix: string) {
  const { offerId, templateId, tag } = request;
  const offer = findOfferParts(offerId);
  if (offer === undefined || !isTemplateId(templateId)) throw noSuchOrder(request);
  checkTag(tag, { prefix: tagPrefix, maxChars: 64 });
  const container = containerOf(shadeformTemplates[templateId].container, request.software);
  return { offer, container: withToken(container, request.notebookToken) };
}

/** Sorts a launch's failure by its code. A launch too soon is for another turn; the rest of the upstream goes on. */
function sorted(error: unknown): unknown {
  if (!(error instanceof ProviderError)) return error;
  const { status, code = '' } = error.details;
  if (status === 429) return outOfTurn(error, LAUNCH_EVERY_MS);
  const kind = KINDS.get(code);
  if (kind === undefined || error.kind === 'unknown') return error;
  const details = { ...error.details, ...(code === 'global/quota-exceeded' ? { unfitAccount: true } : {}) };
  return new ProviderError(kind, error.message, details, { cause: error });
}
