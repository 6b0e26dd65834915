import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { drawAils, noFaults, type Ails, type CrashMode, type LabFaults } from './faults.js';
import type { LabOffer } from './offers.js';
import { Quotas } from './quotas.js';
import { createRunningPod, type PodPlace, type RunningPod } from './running-pod.js';
import type { LabDialect, LabPod, LabRestart, LabStore } from './state.js';

export interface NewPod {
  /** Default: Shadeform's. */
  readonly dialect?: LabDialect;
  readonly offer: LabOffer;
  readonly name: string;
  readonly tags: readonly string[];
  readonly os: string;
  readonly sshKeyId: string | null;
  readonly publicKey: string | null;
  readonly base64Script: string | null;
  readonly envs: readonly { readonly name: string; readonly value: string }[];
  /** The time at which the upstream itself ends it. */
  readonly endBy?: Date | null;
  readonly args?: string;
  readonly ports?: readonly string[];
  readonly registryId?: string | null;
  readonly disk?: number;
}

/** Durations that tests and people set while the lab runs. */
export interface LabSettings {
  /** From create until the pod is up. */
  bootMs: number;
  /** From delete until the pod is gone from the lists. */
  deleteMs: number;
  /** The balance of the account in the dialects that tell one. */
  balanceCents: number;
  /** How long contracts at Vast still run. */
  contractMs: number;
}

/** All pods of the lab: their rows in the state file, and the machines behind them. */
export class Fleet {
  faults: LabFaults = noFaults();
  readonly quotas = new Quotas();
  readonly #machines = new Map<string, RunningPod>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  /** Timers of a pod beside the steps of its life: a crash, its end date. */
  readonly #fates = new Map<string, NodeJS.Timeout>();
  readonly #ails = new Map<string, Ails>();
  #closed = false;

  constructor(
    private readonly store: LabStore,
    private readonly place: PodPlace,
    readonly settings: LabSettings,
  ) {}

  /** The address of all machines. */
  get host(): string {
    return this.place.host;
  }

  /** Makes a pod and lets it boot. The pod is in the state file when it returns. */
  async create(request: NewPod): Promise<LabPod> {
    const ails = drawAils(this.faults);
    const pod = newPod(request, ails, this.settings.bootMs);
    this.#ails.set(pod.id, ails);
    this.store.state.pods.push(pod);
    await this.store.save();
    this.#scheduleBoot(pod);
    this.#scheduleEnd(pod);
    return pod;
  }

  /** Sets the time at which the upstream itself ends a pod. */
  async setEndBy(pod: LabPod, at: Date | null): Promise<void> {
    pod.endByMs = at === null ? null : at.getTime();
    await this.store.save();
    this.#scheduleEnd(pod);
  }

  /** Finds the pod, unless it is gone, or its id is not known yet. */
  find(id: string): LabPod | undefined {
    return this.list().find((pod) => pod.id === id && (pod.knownAtMs ?? 0) <= Date.now());
  }

  /** Where a port of a pod's own loopback is. */
  portInside(pod: LabPod, port: number): number {
    return this.#machineOf(pod).portInside(port);
  }

  /** Every pod that the upstream's lists show. */
  listed(): LabPod[] {
    return this.list().filter((pod) => (pod.listedAtMs ?? 0) <= Date.now());
  }

  /** Every pod that is not gone. */
  list(): LabPod[] {
    return this.store.state.pods.filter((pod) => pod.status !== 'deleted');
  }

  /** Ends a pod: at once as a machine, a moment later in the lists. */
  async remove(pod: LabPod): Promise<void> {
    if (pod.status !== 'deleting') {
      pod.status = 'deleting';
      pod.deletedAtMs = Date.now();
      // Replaces the boot's next step, before anything is awaited.
      this.#at(pod, pod.deletedAtMs + this.settings.deleteMs, () => this.#finish(pod));
      await this.store.save();
    }
    await this.#machineOf(pod).halt();
  }

  /** Makes a pod fail. A pod that is being ended still ends. */
  async crash(pod: LabPod, mode: CrashMode): Promise<void> {
    if (pod.status === 'deleting') return;
    clearTimeout(this.#timers.get(pod.id));
    pod.statusDetails = mode === 'preempted' ? 'preempted by the provider' : 'crashed on request';
    if (mode === 'vanish') {
      await this.#finish(pod);
      return;
    }
    if (mode === 'preempted') {
      await this.remove(pod);
      return;
    }
    if (mode === 'unreachable') pod.unreachable = true;
    else pod.status = 'error';
    await this.store.save();
    await this.#machineOf(pod).halt();
  }

  /** Restores the pods of the state file. */
  async restore(): Promise<void> {
    for (const pod of this.list()) {
      this.#scheduleEnd(pod);
      if (isBooting(pod)) this.#scheduleBoot(pod);
      else if (pod.status === 'deleting') this.#at(pod, 0, () => this.#finish(pod));
      else if (pod.status === 'active' && !pod.unreachable) {
        await this.#listenAgain(pod);
      }
    }
  }

  /**
   * Restarts a machine that is up, as its renter or its upstream may: its tcp ports get other numbers.
   * @param how.isTold false: its upstream's list tells the start before, as where a container starts by itself
   * @param how.aheadMs how far the upstream's clock is ahead
   */
  async restart(pod: LabPod, { isTold = true, aheadMs = 0 }: LabRestart): Promise<void> {
    const machine = this.#machineOf(pod);
    await machine.halt();
    if (isTold) pod.startedAtMs = Date.now() + aheadMs;
    await machine.bootAgain();
    await this.#listenAgain(pod);
    await this.store.save();
  }

  async #listenAgain(pod: LabPod): Promise<void> {
    try {
      Object.assign(pod, await this.#machineOf(pod).listen());
    } catch (error) {
      await this.#fail(pod, error);
    }
  }

  /** Stops all machines; the state stays as it is. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const timer of [...this.#timers.values(), ...this.#fates.values()]) clearTimeout(timer);
    await Promise.all([...this.#machines.values()].map((machine) => machine.halt()));
    // Saves the last changes of steps that ended meanwhile.
    await this.store.save();
  }

  #machineOf(pod: LabPod): RunningPod {
    const machine = this.#machines.get(pod.id) ?? createRunningPod(pod, this.place);
    this.#machines.set(pod.id, machine);
    return machine;
  }

  /** Plans the next step in a pod's life, in place of any other planned step. */
  #at(pod: LabPod, atMs: number, step: () => void | Promise<void>): void {
    clearTimeout(this.#timers.get(pod.id));
    if (this.#closed) return;
    const run = async (): Promise<void> => {
      try {
        await step();
      } catch (error) {
        await this.#fail(pod, error);
      }
    };
    this.#timers.set(
      pod.id,
      setTimeout(() => void run(), Math.max(0, atMs - Date.now())),
    );
  }

  #scheduleBoot(pod: LabPod): void {
    const { bootAtMs, createdAtMs } = pod;
    if (bootAtMs === null) {
      pod.status = 'pending';
      return;
    }
    // The states in between, at thirds of the boot. Nothing depends on them, so they are not saved.
    const thirdMs = (bootAtMs - createdAtMs) / 3;
    this.#at(pod, createdAtMs + thirdMs, () => {
      pod.status = 'pending_provider';
      this.#at(pod, createdAtMs + 2 * thirdMs, () => {
        pod.status = 'pending';
        this.#at(pod, bootAtMs, () => this.#boot(pod));
      });
    });
  }

  async #boot(pod: LabPod): Promise<void> {
    const machine = this.#machineOf(pod);
    await machine.boot();
    if (!this.#mayBoot(pod)) return;
    const ails = this.#ails.get(pod.id);
    if (ails?.failsToStart === true) throw new Error('the machine was sold to somebody else');
    const listening = await machine.listen();
    if (!this.#mayBoot(pod)) {
      await machine.halt();
      return;
    }
    this.#borrowAddress(pod, ails?.borrowsAddressForMs ?? 0);
    Object.assign(pod, { status: 'active', statusDetails: '', ...listening, activeAtMs: Date.now() });
    await this.store.save();
    const crash = ails?.crash ?? null;
    if (crash !== null) this.#befall(`${pod.id} crash`, crash.afterMs, () => this.crash(pod, crash.mode));
  }

  /** Shows the address of another pod that is up, as an upstream that reuses addresses does. */
  #borrowAddress(pod: LabPod, forMs: number): void {
    const owner = this.list().findLast(
      (other) =>
        other.id !== pod.id &&
        other.dialect === pod.dialect &&
        other.status === 'active' &&
        other.port !== null,
    );
    if (forMs === 0 || owner === undefined) return;
    pod.shownPort = owner.port;
    this.#befall(`${pod.id} address`, forMs, () => {
      pod.shownPort = null;
      return this.store.save();
    });
  }

  #scheduleEnd(pod: LabPod): void {
    const key = `${pod.id} end`;
    clearTimeout(this.#fates.get(key));
    const endByMs = pod.endByMs ?? null;
    // A timer takes 24 days at most; a lab does not live to see a later date.
    if (endByMs === null || endByMs - Date.now() > 2 ** 31 - 1) return;
    this.#befall(key, Math.max(0, endByMs - Date.now()), () => this.remove(pod));
  }

  #befall(key: string, afterMs: number, what: () => Promise<void>): void {
    if (this.#closed) return;
    const timer = setTimeout(() => {
      what().catch((error: unknown) => console.error('lab provider:', error));
    }, afterMs);
    this.#fates.set(key, timer.unref());
  }

  /** Checked again after each step of a boot: the pod may have been ended meanwhile. */
  #mayBoot(pod: LabPod): boolean {
    return !this.#closed && isBooting(pod);
  }

  async #finish(pod: LabPod): Promise<void> {
    pod.status = 'deleted';
    pod.deletedAtMs ??= Date.now();
    await this.store.save();
    await this.#machineOf(pod).destroy();
    this.#machines.delete(pod.id);
    this.#timers.delete(pod.id);
    this.#ails.delete(pod.id);
  }

  async #fail(pod: LabPod, error: unknown): Promise<void> {
    if (this.#closed || pod.status === 'deleted') return;
    pod.status = 'error';
    pod.statusDetails = error instanceof Error ? error.message : String(error);
    await this.store.save();
  }
}

function isBooting(pod: LabPod): boolean {
  return pod.status === 'creating' || pod.status === 'pending_provider' || pod.status === 'pending';
}

function newPod(request: NewPod, ails: Ails, bootMs: number): LabPod {
  const nowMs = Date.now();
  const { offer, endBy = null, ...rest } = request;
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  return {
    id: randomUUID(),
    ...rest,
    cloud: offer.cloud,
    type: offer.type,
    region: offer.region,
    priceCents: Math.ceil((offer.priceCents * (100 + ails.dearerPercent)) / 100),
    hostKey: privateKey.export({ type: 'sec1', format: 'pem' }).toString(),
    createdAtMs: nowMs,
    bootAtMs: ails.neverBoots ? null : nowMs + bootMs,
    ssh: ails.ssh,
    gpuFault: ails.gpu?.kind ?? null,
    isListedOtherwise: ails.gpu?.listed ?? false,
    listedAtMs: nowMs + ails.listLagMs,
    knownAtMs: nowMs + ails.unknownForMs,
    endByMs: endBy === null ? null : endBy.getTime(),
    status: 'creating',
    statusDetails: 'Instance created, waiting for the lab to boot it',
    port: null,
    activeAtMs: null,
    deletedAtMs: null,
    unreachable: false,
  };
}
