import { setTimeout as sleep } from 'node:timers/promises';
import { isTemplateId } from '../../../domain/catalog/templates.js';
import { MINUTE, SECOND } from '../../../domain/durations.js';
import { fetching } from '../../../domain/rentals/software.js';
import { lastOfEach } from '../listed-pod.js';
import { dearestOfEach } from '../offers/dearest-of-each.js';
import {
  ProviderError,
  type AccountBalance,
  type AllocatedPod,
  type AllocationRequest,
  type Pod,
  type Provider,
  type Wait,
} from '../provider.js';
import { fieldsOf, findList, numberField, textField } from '../upstream/fields.js';
import { clientOptionsOf, type ProviderOptions } from '../upstream/provider-options.js';
import { checkTag, noSuchOrder } from '../upstream/order-checks.js';
import type { HttpAnswer } from '../upstream/http-answer.js';
import { createUpstream, isGone, type Upstream, type UpstreamCall } from '../upstream/upstream.js';
import { errorOfAnswer, outOfTurn, throwBeforeBuying } from '../upstream/upstream-errors.js';
import { readOffer, vastSearch } from './vast-offers.js';
import { VAST_DISK_GB, vastTemplates } from './vast-templates.js';
import { vastSoftware } from './vast-software.js';
import { findPod, onstartOf } from './vast-wire.js';

/** Some hosts pull an image of some GB over a slow link. */
const PROVISION_DEADLINE_MS = 20 * MINUTE;
/** Instances of one page: the most that there may be. */
const PAGE = 25;
const MOST_PAGES = 4_000;
/** A page after the first is asked for so often: hundreds came before it, and would have to be read anew. */
const PAGE_TRIES = 3;
/**
 * A page of a long list waits so long for its turn, behind the searches that came first. One after the first waits as long
 * before each further try for our own request budget, whose minute is over by the last one.
 */
const PAGE_TURN_MS = 30 * SECOND;
/** The account is looked at with each list of offers; a create trusts what was seen so lately. */
const ACCOUNT_SEEN_MS = 2 * MINUTE;

/**
 * The smallest times between two requests, by endpoint: those of the published description and a tenth more, since two
 * requests are not equally long on their way. A create too soon costs 12 s.
 */
const PACES = {
  create: { name: 'create', everyMs: 5 * SECOND, failsOutOfTurn: true },
  destroy: { name: 'destroy', everyMs: 3.3 * SECOND },
  list: { name: 'list', everyMs: 1.1 * SECOND },
  search: { name: 'search', everyMs: 6.6 * SECOND },
  account: { name: 'account', everyMs: 2.2 * SECOND },
};
const CREATE_PENALTY_MS = 12 * SECOND;

/**
 * The API of Vast.ai (v0, v1) as a Provider. Facts: its published OpenAPI description and guides.
 * @param options.url the API's origin; the paths begin with /api
 */
export function createVastProvider(options: ProviderOptions): Provider {
  const tagPrefix = `${options.deployment}-`;
  const odd = options.onOddity ?? (() => undefined);
  const upstream = createUpstream(clientOptionsOf(options));
  const checkAccount = createAccountCheck(upstream);
  /** What everything in the account costs, by the last list of all. */
  let burnCentsPerHour = 0;
  const read = (instance: unknown): Pod[] => [findPod(instance, tagPrefix, odd) ?? []].flat();

  return {
    code: options.code,
    provisionDeadlineMs: PROVISION_DEADLINE_MS,
    createEveryMs: PACES.create.everyMs,
    templates: new Set(vastTemplates.keys()),
    software: options.machinesFetch ? fetching(vastSoftware, vastSoftware.scriptMaxBytes ?? 0) : vastSoftware,
    proof: 'container',
    telemetry: { cpu: true, network: false, sessions: false },
    async listOffers() {
      await checkAccount({ seenMs: 0 });
      const offers = await upstream.list('listing offers', {
        ...{ method: 'POST', path: '/api/v0/bundles/', body: vastSearch, paces: [PACES.search] },
        ...{ name: 'offers', read: (offer) => readOffer(offer, odd) },
      });
      return dearestOfEach(offers, odd);
    },
    async allocate(request) {
      await checkAccount({ seenMs: ACCOUNT_SEEN_MS, untilMs: request.untilMs }).catch(throwBeforeBuying);
      return allocate(upstream, tagPrefix, request);
    },
    async find(tag, wait) {
      // The filter knows whole labels alone, so the list of all of ours can't use it.
      const instances = await listInstances(upstream, { label: { eq: tag } }, wait ?? {});
      return instances.flatMap(read).find((pod) => pod.tag === tag);
    },
    async listPods(tell) {
      const instances = await listInstances(upstream, {}, { turnsMs: PAGE_TURN_MS, onPage: tell });
      burnCentsPerHour = burnOf(instances);
      return lastOfEach(instances.flatMap(read));
    },
    async terminate(podId, wait) {
      await upstream.call('ending a pod', {
        ...{ method: 'DELETE', path: `/api/v0/instances/${encodeURIComponent(podId)}/` },
        ...{ paces: [PACES.destroy], repeatable: true },
        // Only the lists tell whether a pod is gone.
        accepts: isGone,
        ...wait,
      });
    },
    async readBalance(): Promise<AccountBalance> {
      const { body } = await upstream.call('reading the balance', {
        ...{ method: 'GET', path: '/api/v0/users/current/', paces: [PACES.account] },
      });
      const balance = numberField(fieldsOf(body), 'balance');
      if (balance === null)
        throw new ProviderError('unknown', 'reading the balance: no balance in the answer');
      return { balanceCents: Math.floor(Math.round(balance * 100_000) / 1_000), burnCentsPerHour };
    },
  };
}

/**
 * Makes the check that the account holds no SSH key: Vast puts each of them into every new machine, so that its owner
 * could enter what renters rent.
 */
function createAccountCheck(upstream: Upstream): (how: { seenMs: number } & Wait) => Promise<void> {
  let seen: { readonly keys: number; readonly atMs: number } | undefined;
  return async ({ seenMs, untilMs }) => {
    if (seen === undefined || performance.now() - seen.atMs > seenMs) {
      seen = { keys: await countAccountKeys(upstream, { untilMs }), atMs: performance.now() };
    }
    if (seen.keys === 0) return;
    throw new ProviderError(
      'refused',
      `the account holds SSH keys (${seen.keys}), which open every new machine: remove them there`,
      { unfitAccount: true },
    );
  };
}

async function countAccountKeys(upstream: Upstream, wait: Wait): Promise<number> {
  const what = 'reading the account’s SSH keys';
  const answer = await upstream.call(what, {
    ...{ method: 'GET', path: '/api/v0/ssh/', paces: [PACES.account], ...wait },
    // It says "not found" when there is none.
    accepts: (status) => status === 404,
  });
  if (answer.status === 404) return 0;
  const keys = Array.isArray(answer.body) ? answer.body : findList(fieldsOf(answer.body), 'ssh_keys');
  if (keys === undefined) throw errorOfAnswer(`${what}: no list in the answer`, 'buys_nothing', answer);
  return keys.filter((key) => textField(fieldsOf(key), 'deleted_at') === null).length;
}

/** How the pages of a list are asked for. */
interface Paging extends Wait, Pick<UpstreamCall, 'turnsMs'> {
  /** Is told of each page that came. */
  readonly onPage?: (() => void) | undefined;
}

/** Lists all instances of the account that fit, page by page. A part is not a whole list: one failure fails it. */
async function listInstances(upstream: Upstream, filters: object, paging: Paging): Promise<unknown[]> {
  const instances: unknown[] = [];
  let token: string | null = null;
  for (let page = 1; page <= MOST_PAGES; page += 1) {
    const query = new URLSearchParams({ limit: String(PAGE), select_filters: JSON.stringify(filters) });
    if (token !== null) query.set('after_token', token);
    const what = `listing pods, page ${page}`;
    const answer = await askForPage(upstream, what, query, { ...paging, tries: page === 1 ? 1 : PAGE_TRIES });
    const found = findList(fieldsOf(answer.body), 'instances');
    if (found === undefined)
      throw errorOfAnswer(`${what}: no instances in the answer`, 'buys_nothing', answer);
    instances.push(...found);
    paging.onPage?.();
    const { next_token: next = null } = fieldsOf(answer.body);
    if (next === null) return instances;
    token = textField({ next }, 'next');
    if (token === null) throw errorOfAnswer(`${what}: an unreadable next_token`, 'buys_nothing', answer);
  }
  throw new ProviderError('unknown', `listing pods: more than ${MOST_PAGES} pages`);
}

/** Asks for one page, and again while it gets no answer, or we put it off ourselves, and it has tries left. */
async function askForPage(
  upstream: Upstream,
  what: string,
  query: URLSearchParams,
  { untilMs, turnsMs, onPage, tries }: Paging & { readonly tries: number },
): Promise<HttpAnswer> {
  for (let left = tries - 1; ; left -= 1) {
    try {
      return await upstream.call(what, {
        ...{ method: 'GET', path: `/api/v1/instances/?${query.toString()}`, paces: [PACES.list], untilMs },
        ...(turnsMs !== undefined && { turnsMs }),
      });
    } catch (error) {
      const waitMs = againInMs(error, untilMs);
      if (left === 0 || waitMs === undefined) throw error;
      onPage?.();
      await sleep(waitMs);
      onPage?.();
    }
  }
}

/** Returns in how many milliseconds a page that failed so may be asked for again; undefined: not at all. */
function againInMs(error: unknown, untilMs = Infinity): number | undefined {
  if (!(error instanceof ProviderError)) return undefined;
  const { outOfTurn = false, retryAfterMs = PAGE_TURN_MS } = error.details;
  if (!outOfTurn) return error.kind === 'unknown' ? 0 : undefined;
  const waitMs = Math.min(retryAfterMs, PAGE_TURN_MS);
  return performance.now() + waitMs < untilMs ? waitMs : undefined;
}

function burnOf(instances: readonly unknown[]): number {
  const usd = instances.reduce(
    (sum: number, each) => sum + (numberField(fieldsOf(each), 'dph_total') ?? 0),
    0,
  );
  return Math.ceil(Math.round(usd * 100_000) / 1_000);
}

async function allocate(
  upstream: Upstream,
  tagPrefix: string,
  request: AllocationRequest,
): Promise<AllocatedPod> {
  const body = createBodyOf(request, tagPrefix);
  const answer = await upstream
    .call('creating a pod', {
      ...{ method: 'PUT', path: `/api/v0/asks/${request.offerId}/`, body, untilMs: request.untilMs },
      ...{ effect: 'buys', paces: [PACES.create] },
    })
    .catch(forOthersTurn);
  const contract = numberField(fieldsOf(answer.body), 'new_contract');
  if (contract === null) throw errorOfAnswer('creating a pod: no contract in the answer', 'buys', answer);
  return { podId: String(contract), pricePerHourCents: null };
}

function createBodyOf(request: AllocationRequest, tagPrefix: string): unknown {
  const image = isTemplateId(request.templateId) ? vastTemplates.get(request.templateId) : undefined;
  if (image === undefined || !/^[1-9]\d*$/.test(request.offerId)) {
    throw noSuchOrder(request);
  }
  checkTag(request.tag, { prefix: tagPrefix });
  return {
    image,
    label: request.tag,
    disk: VAST_DISK_GB,
    runtype: 'ssh_direct',
    target_state: 'running',
    // Else it would wait for its GPU, and cost its disk meanwhile.
    cancel_unavail: true,
    onstart: onstartOf(request),
  };
}

function forOthersTurn(error: unknown): never {
  const isTooSoon = error instanceof ProviderError && error.details.status === 429;
  throw isTooSoon ? outOfTurn(error, CREATE_PENALTY_MS) : error;
}
