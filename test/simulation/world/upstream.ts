import type { Prober } from '../../../adapters/providers/ssh/prober.js';
import {
  ProviderError,
  type AllocatedPod,
  type AllocationRequest,
  type Offer,
  type Pod,
  type Provider,
  type StartId,
} from '../../../adapters/providers/provider.js';
import { templates } from '../../../domain/catalog/templates.js';
import { ownSoftwareId } from '../../../domain/rentals/software.js';
import type { Kernel } from '../kernel/kernel.js';
import type { Chance } from '../kernel/chance.js';
import { currentScope, type Scope } from '../kernel/scope.js';
import type { Habits } from './dialects.js';
import { NoAnswer, type Outside } from './outside.js';
import { drawUse, useAt, type Stretch } from './use.js';

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
  /** When the public port of own software first answers; Infinity: never. */
  readonly portMs: number;
  /** When it is ready, as was agreed: once SSH answers, or own software by its port or by time. */
  readonly readyMs: number;
  /** What it does, and what is told of that; none where its upstream tells nothing. */
  readonly use: readonly Stretch[];
  /** When its upstream ends it by itself; Infinity: never. */
  endByMs: number;
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
  /** Of creates, where that is a habit: the answer is an error that names the machine which was made. */
  failsWithMachine: number;
  /** Of images: they are pulled for ever. */
  neverPulls: number;
}

/** An upstream that does what it says. */
export const honest: MachineFaults = {
  ...{ neverBoots: 0, isLost: 0, vanishes: 0, noCapacity: 0, isDearer: 0, isListedLate: 0 },
  ...{ isStubborn: 0, rateLimited: 0, failsToEnd: 0, listsTwice: 0, failsWithMachine: 0, neverPulls: 0 },
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

/** How long after its upstream calls it running own software is ready at the latest (N38), in milliseconds. */
const GRACE_MS = 120_000;
/** How long after that its port may answer, in milliseconds. */
const PORT_LATE_MS = 200_000;

/** One upstream: what it offers, and the machines it has sold. */
export class Upstream {
  readonly machines: Machine[] = [];
  faults: MachineFaults = honest;
  /** Whether our account there is empty: it sells nothing, and all that runs goes on. */
  isUnpaid = false;
  readonly #offers: readonly Offer[];
  #createdMs = -Infinity;

  constructor(
    readonly code: string,
    readonly habits: Habits,
    private readonly kernel: Kernel,
    private readonly chance: Chance,
    private readonly outside: Outside,
  ) {
    this.#offers = models.flatMap((model) => [1, 2, 8].map((gpuCount) => this.#offerOf(model, gpuCount)));
  }

  /** The port by which the service sees it. */
  provider(): Provider {
    const { code, habits } = this;
    const { createEveryMs, software, telemetry, endsBy } = habits;
    const starts: StartId[] = [
      ...templates.map(({ id }) => id),
      ...(software ? ([ownSoftwareId] as const) : []),
    ];
    return {
      ...{ code, provisionDeadlineMs: 600_000, templates: new Set(starts) },
      ...(createEveryMs !== undefined && { createEveryMs }),
      ...(software && { software }),
      ...(telemetry && { telemetry }),
      ...(endsBy && {
        endBy: (podId: string, at: Date) => this.#ask('endBy', () => this.#endBy(podId, at.getTime())),
      }),
      listOffers: () => this.#ask('offers', () => [...this.#offers]),
      allocate: (request) => this.#ask('allocate', () => this.#allocate(request)),
      find: (tag) => this.#ask('find', () => this.#listed().find((pod) => pod.tag === tag)),
      listPods: () => this.#ask('pods', () => this.#list()),
      terminate: (podId) => this.#ask('terminate', () => this.#terminate(podId)),
    };
  }

  /** The machine at an address, if its daemon answers now, or its port. */
  answeringAt(host: string, what: 'answersMs' | 'portMs' = 'answersMs'): Machine | undefined {
    const now = this.kernel.nowMs;
    return this.machines.find(
      (machine) => machine.host === host && machine[what] <= now && endOf(machine) > now,
    );
  }

  /** Is told of each call that has taken effect, before its answer is under way, and of who asked. */
  onCall: (name: string, caller: Scope) => void = () => undefined;

  async #ask<T>(name: string, effect: () => T): Promise<T> {
    const caller = currentScope();
    try {
      return await this.outside.call(this.code, name, () => {
        this.kernel.after(0, '', () => this.onCall(name, caller), { scope: {}, isSilent: true });
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
    const { chance, faults, habits } = this;
    const offer = this.#offerFor(request);
    this.#takeTurn();
    const machine = this.#make(request, offer);
    this.machines.push(machine);
    this.#plan(machine, chance.perMille(faults.vanishes));
    if (request.endBy !== null && habits.endsBy) this.#endBy(machine.podId, request.endBy.getTime());
    if (habits.failsWithMachine && chance.perMille(faults.failsWithMachine)) {
      throw new ProviderError('unknown', 'it failed', { status: 500, podId: machine.podId });
    }
    return {
      podId: machine.podId,
      pricePerHourCents: habits.tellsPrice ? machine.pricePerHourCents : null,
    };
  }

  /** @throws ProviderError where it sells nothing */
  #offerFor({ offerId }: AllocationRequest): Offer {
    if (this.isUnpaid) {
      throw new ProviderError('refused', 'insufficient funds', { status: 402, noFunds: true });
    }
    const offer = this.#offers.find((one) => one.offerId === offerId);
    if (offer === undefined || this.chance.perMille(this.faults.noCapacity)) {
      throw new ProviderError('no_capacity', 'nothing is left of this offer');
    }
    return offer;
  }

  #make(request: AllocationRequest, { pricePerHourCents }: Offer): Machine {
    const { chance, kernel, faults, code } = this;
    const no = this.machines.length + 1;
    const boughtMs = kernel.nowMs;
    const times = this.#drawBoot(request, boughtMs);
    const lifeMs = 5_000 + chance.below(chance.perMille(500) ? SHORT_LIFE_MS : LIFE_MAX_MS);
    return {
      ...{ provider: code, podId: `${code}-pod-${no}`, tag: request.tag },
      host: `198.51.${no >> 8}.${no & 255}-${code}`,
      pricePerHourCents: pricePerHourCents + (chance.perMille(faults.isDearer) ? 1 + chance.below(20) : 0),
      ...{ boughtMs, ...times, lostMs: chance.perMille(faults.isLost) ? boughtMs + lifeMs : Infinity },
      ...{ toldMs: undefined, goneMs: undefined, askedMs: undefined, endByMs: Infinity },
      use: this.habits.telemetry === undefined ? [] : drawUse(chance, times.activeMs),
      listedMs: boughtMs + (chance.perMille(faults.isListedLate) ? chance.below(LISTED_LATE_MS) : 0),
      isStubborn: chance.perMille(faults.isStubborn),
    };
  }

  /** Makes the clock stop wherever the machine changes by itself. */
  #plan(machine: Machine, vanishes: boolean): void {
    const { activeMs, answersMs, portMs, listedMs, lostMs } = machine;
    for (const atMs of [activeMs, answersMs, portMs, listedMs]) this.#happensAt(atMs);
    this.#happensAt(lostMs, () => {
      if (vanishes) machine.goneMs ??= lostMs;
    });
  }

  /** @throws ProviderError where others had their turn just now */
  #takeTurn(): void {
    const { createEveryMs = 0 } = this.habits;
    const waitMs = this.#createdMs + createEveryMs - this.kernel.nowMs;
    if (waitMs > 0) {
      const details = { status: 429, retryAfterMs: waitMs, outOfTurn: true };
      throw new ProviderError('rate_limited', 'one machine at a time', details);
    }
    this.#createdMs = this.kernel.nowMs;
  }

  /** Draws when a machine is active, answers, and is ready. */
  #drawBoot(
    { software }: AllocationRequest,
    boughtMs: number,
  ): Pick<Machine, 'activeMs' | 'answersMs' | 'portMs' | 'readyMs'> {
    const { chance, faults } = this;
    const activeMs = boughtMs + 3_000 + chance.below(40_000);
    const daemonMs = activeMs + chance.below(15_000);
    if (software === undefined || software.image === null) {
      const answersMs = chance.perMille(faults.neverBoots) ? Infinity : daemonMs;
      return { activeMs, answersMs, portMs: Infinity, readyMs: answersMs };
    }
    if (chance.perMille(faults.neverPulls)) {
      return { activeMs: Infinity, answersMs: Infinity, portMs: Infinity, readyMs: Infinity };
    }
    const hasPort = software.ports.some((port) => port.public) && chance.perMille(600);
    const portMs = hasPort ? activeMs + chance.below(PORT_LATE_MS) : Infinity;
    const answersMs = chance.perMille(400) ? daemonMs : Infinity;
    return { activeMs, answersMs, portMs, readyMs: Math.min(answersMs, portMs, activeMs + GRACE_MS) };
  }

  /** The dead man's switch: a machine that nobody has ended by then is gone. */
  #endBy(podId: string, atMs: number): void {
    const machine = this.machines.find((one) => one.podId === podId);
    if (machine === undefined) return;
    machine.endByMs = atMs;
    this.#happensAt(atMs, () => {
      if (machine.endByMs !== atMs || machine.goneMs !== undefined) return;
      machine.lostMs = Math.min(machine.lostMs, atMs);
      machine.goneMs = atMs;
    });
  }

  #terminate(podId: string): void {
    const machine = this.machines.find((one) => one.podId === podId);
    if (machine !== undefined) machine.askedMs = this.kernel.nowMs;
    if (machine === undefined || machine.goneMs !== undefined) return;
    machine.toldMs ??= this.kernel.nowMs;
    if (machine.isStubborn) throw new ProviderError('unknown', 'it can not be ended', { status: 500 });
    const takesMs = this.habits.showsEnding ? 500 + this.chance.below(20_000) : 0;
    machine.goneMs = this.kernel.nowMs + takesMs;
    this.#happensAt(machine.goneMs);
    if (this.chance.perMille(this.faults.failsToEnd)) throw new ProviderError('unknown', 'no answer in time');
  }

  /** Makes the clock stop at an instant at which something here changes. */
  #happensAt(atMs: number, change: () => void = () => undefined): void {
    if (atMs !== Infinity)
      this.kernel.after(atMs - this.kernel.nowMs, `${this.code} changes`, change, { scope: {} });
  }

  #portsOf({ host, portMs }: Machine): Pick<Pod, 'ports'> {
    if (!this.habits.mapsPorts) return {};
    const at = { url: null, host, hostPort: 40_000, changesOnRestart: true };
    return { ports: portMs === Infinity ? [] : [{ port: SOFTWARE_PORT, ...at }] };
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
          ? { host: machine.host, port: 22, username: 'root', ...this.#portsOf(machine) }
          : { host: null, port: null, username: null }),
        ...(this.habits.telemetry && { use: useAt(machine.use, now) }),
        pricePerHourCents: machine.pricePerHourCents,
      }));
  }
}

/** The port that own software of a run has. */
export const SOFTWARE_PORT = 8_080;

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
  const at = (host: string, what?: 'portMs'): Machine | undefined =>
    upstreams.map((upstream) => upstream.answeringAt(host, what)).find((machine) => machine !== undefined);
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
    answers: ({ host }) => ask(() => host !== null && at(host, 'portMs') !== undefined, false),
    hostKey: ({ host }) => ask(() => (at(host) === undefined ? undefined : `SHA256:${host}`), undefined),
  };
}
