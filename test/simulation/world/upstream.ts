import type { Prober } from '../../../adapters/providers/ssh/prober.js';
import {
  ProviderError,
  type AllocatedPod,
  type AllocationRequest,
  type Offer,
  type Pod,
  type Provider,
} from '../../../adapters/providers/provider.js';
import { templates } from '../../../domain/catalog/templates.js';
import type { Kernel } from '../kernel/kernel.js';
import type { Chance } from '../kernel/chance.js';
import { NoAnswer, type Outside } from './outside.js';

/** What truly became of a machine, by the upstream's own clock; milliseconds since 1970. */
export interface Machine {
  readonly provider: string;
  readonly podId: string;
  readonly tag: string;
  readonly pricePerHourCents: number;
  readonly host: string;
  readonly boughtMs: number;
  readonly activeMs: number;
  /** When its SSH daemon first answers; Infinity: never. */
  readonly answersMs: number;
  /** When it is lost; Infinity: never. */
  lostMs: number;
  /** When it was first told to end. */
  toldMs: number | undefined;
  /** When it is gone for good. */
  goneMs: number | undefined;
  /** When lists first show it. */
  readonly listedMs: number;
  /** Its upstream fails to end it, for ever. */
  readonly isStubborn: boolean;
  /** When the service last asked for its end. */
  askedMs: number | undefined;
}

/** What may go wrong with machines, per thousand of them. */
export interface MachineFaults {
  neverBoots: number;
  isLost: number;
  /** Of those that are lost: it is not listed from then on, and nothing says why. */
  vanishes: number;
  noCapacity: number;
  /** It is sold at a higher price than offered. */
  isDearer: number;
  isListedLate: number;
  isStubborn: number;
  /** Of all calls. */
  rateLimited: number;
  /** Of the calls for a machine's end: it takes effect, and the answer is an error. */
  failsToEnd: number;
  /** Of lists: one machine is in it twice. */
  listsTwice: number;
}

/** An upstream that does what it says. */
export const honest: MachineFaults = {
  ...{ neverBoots: 0, isLost: 0, vanishes: 0, noCapacity: 0, isDearer: 0, isListedLate: 0 },
  ...{ isStubborn: 0, rateLimited: 0, failsToEnd: 0, listsTwice: 0 },
};

const models = [
  { model: 'RTX_4090', family: 'rtx-4090', vramGb: 24, price: 12 },
  { model: 'A100_PCIE_80GB', family: 'a100-80gb', vramGb: 80, price: 30 },
  { model: 'H100_SXM_80GB', family: 'h100-80gb', vramGb: 80, price: 70 },
] as const;

/** How much later than bought a machine may be listed, in milliseconds: longer than anybody looks for it. */
const LISTED_LATE_MS = 90_000;
/** The longest life of a machine that is lost, in milliseconds, and of one half of them. */
const LIFE_MAX_MS = 20 * 3_600_000;
const SHORT_LIFE_MS = 20 * 60_000;

/** One upstream: what it offers, and the machines it has sold. */
export class Upstream {
  readonly machines: Machine[] = [];
  faults: MachineFaults = honest;
  /** Whether our account there is empty: it sells nothing, and all that runs goes on. */
  isUnpaid = false;
  readonly #offers: readonly Offer[];

  constructor(
    readonly code: string,
    private readonly kernel: Kernel,
    private readonly chance: Chance,
    private readonly outside: Outside,
  ) {
    this.#offers = models.flatMap((model) => [1, 2, 8].map((gpuCount) => this.#offerOf(model, gpuCount)));
  }

  /** The port by which the service sees it. */
  provider(): Provider {
    const { code } = this;
    return {
      ...{ code, provisionDeadlineMs: 600_000, templates: new Set(templates.map(({ id }) => id)) },
      listOffers: () => this.#ask('offers', () => [...this.#offers]),
      allocate: (request) => this.#ask('allocate', () => this.#allocate(request)),
      find: (tag) => this.#ask('find', () => this.#listed().find((pod) => pod.tag === tag)),
      listPods: () => this.#ask('pods', () => this.#list()),
      terminate: (podId) => this.#ask('terminate', () => this.#terminate(podId)),
    };
  }

  /** The machine at an address, if its daemon answers now. */
  answeringAt(host: string): Machine | undefined {
    const now = this.kernel.nowMs;
    return this.machines.find(
      (machine) => machine.host === host && machine.answersMs <= now && endOf(machine) > now,
    );
  }

  async #ask<T>(name: string, effect: () => T): Promise<T> {
    try {
      return await this.outside.call(this.code, name, () => {
        if (!this.chance.perMille(this.faults.rateLimited)) return effect();
        throw new ProviderError('rate_limited', 'too many requests', { status: 429, retryAfterMs: 5_000 });
      });
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      throw new ProviderError('unknown', error.message, {}, { cause: error });
    }
  }

  #offerOf(model: (typeof models)[number], gpuCount: number): Offer {
    return {
      offerId: `${this.code}-${model.family}-${gpuCount}`,
      ...{ model: model.model, family: model.family, vramGb: model.vramGb, gpuCount },
      pricePerHourCents: model.price * gpuCount + this.chance.below(10),
      ...{ region: 'Iowa, US', regionCode: 'US', interconnect: 'pcie' },
    };
  }

  #allocate(request: AllocationRequest): AllocatedPod {
    const { chance, kernel, faults } = this;
    if (this.isUnpaid) {
      throw new ProviderError('refused', 'insufficient funds', { status: 402, noFunds: true });
    }
    const offer = this.#offers.find(({ offerId }) => offerId === request.offerId);
    if (offer === undefined || chance.perMille(faults.noCapacity)) {
      throw new ProviderError('no_capacity', 'nothing is left of this offer');
    }
    const no = this.machines.length + 1;
    const boughtMs = kernel.nowMs;
    const activeMs = boughtMs + 3_000 + chance.below(40_000);
    const answersMs = chance.perMille(faults.neverBoots) ? Infinity : activeMs + chance.below(15_000);
    const lifeMs = 5_000 + chance.below(chance.perMille(500) ? SHORT_LIFE_MS : LIFE_MAX_MS);
    const lostMs = chance.perMille(faults.isLost) ? boughtMs + lifeMs : Infinity;
    const price = offer.pricePerHourCents + (chance.perMille(faults.isDearer) ? 1 + chance.below(20) : 0);
    const vanishes = chance.perMille(faults.vanishes);
    const machine: Machine = {
      ...{
        provider: this.code,
        podId: `${this.code}-pod-${no}`,
        tag: request.tag,
        host: `198.51.${no >> 8}.${no & 255}-${this.code}`,
      },
      ...{ pricePerHourCents: price, boughtMs, activeMs, answersMs, lostMs },
      ...{ toldMs: undefined, goneMs: undefined, askedMs: undefined },
      listedMs: boughtMs + (chance.perMille(faults.isListedLate) ? chance.below(LISTED_LATE_MS) : 0),
      isStubborn: chance.perMille(faults.isStubborn),
    };
    this.machines.push(machine);
    for (const atMs of [activeMs, answersMs, machine.listedMs]) this.#happensAt(atMs);
    this.#happensAt(lostMs, () => {
      if (vanishes) machine.goneMs ??= lostMs;
    });
    return { podId: machine.podId, pricePerHourCents: machine.pricePerHourCents };
  }

  #terminate(podId: string): void {
    const machine = this.machines.find((one) => one.podId === podId);
    if (machine !== undefined) machine.askedMs = this.kernel.nowMs;
    if (machine === undefined || machine.goneMs !== undefined) return;
    machine.toldMs ??= this.kernel.nowMs;
    if (machine.isStubborn) throw new ProviderError('unknown', 'it can not be ended', { status: 500 });
    machine.goneMs = this.kernel.nowMs + 500 + this.chance.below(20_000);
    this.#happensAt(machine.goneMs);
    if (this.chance.perMille(this.faults.failsToEnd)) throw new ProviderError('unknown', 'no answer in time');
  }

  /** Makes the clock stop at an instant at which something here changes. */
  #happensAt(atMs: number, change: () => void = () => undefined): void {
    if (atMs !== Infinity)
      this.kernel.after(atMs - this.kernel.nowMs, `${this.code} changes`, change, { scope: {} });
  }

  #list(): Pod[] {
    const pods = this.#listed();
    const [first] = pods;
    return first !== undefined && this.chance.perMille(this.faults.listsTwice) ? [...pods, first] : pods;
  }

  #listed(): Pod[] {
    const now = this.kernel.nowMs;
    return this.machines
      .filter(({ goneMs, listedMs }) => listedMs <= now && (goneMs === undefined || goneMs > now))
      .map((machine) => ({ machine, status: statusOf(machine, now) }))
      .map(({ machine, status }) => ({
        ...{ podId: machine.podId, tag: machine.tag, status, upstreamStatus: status },
        ...(machine.activeMs <= now
          ? { host: machine.host, port: 22, username: 'root' }
          : { host: null, port: null, username: null }),
        pricePerHourCents: machine.pricePerHourCents,
      }));
  }
}

function statusOf(machine: Machine, now: number): Pod['status'] {
  if (machine.lostMs <= now) return 'lost';
  if (machine.toldMs !== undefined && !machine.isStubborn) return 'ending';
  return machine.activeMs <= now ? 'active' : 'pending';
}

function endOf({ lostMs, goneMs }: Machine): number {
  return Math.min(lostMs, goneMs ?? Infinity);
}

/** Makes the one way to the machines of all upstreams. */
export function createSimulatedProber(upstreams: readonly Upstream[], outside: Outside): Prober {
  const at = (host: string): Machine | undefined =>
    upstreams.map((upstream) => upstream.answeringAt(host)).find((machine) => machine !== undefined);
  const ask = async <T>(effect: () => T, silent: T): Promise<T> => {
    try {
      return await outside.call('machines', 'ssh', effect);
    } catch {
      return silent;
    }
  };
  const silent = { answered: false, reason: 'connect-timeout' } as const;
  return {
    probe: ({ host }) => ask(() => (at(host) === undefined ? silent : ({ answered: true } as const)), silent),
    answers: () => Promise.resolve(false),
    hostKey: ({ host }) => ask(() => (at(host) === undefined ? undefined : `SHA256:${host}`), undefined),
  };
}
