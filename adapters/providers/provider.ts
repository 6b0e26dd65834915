import { PeerError, statusesOfAll } from '../peer-error.js';
import type { ReportTarget } from './proof-script.js';
import type { TemplateId } from '../../domain/catalog/templates.js';
import type { PodPort } from '../../domain/rentals/endpoints.js';
import type { ListedHardware } from '../../domain/machines/claims.js';
import type { ListedUse, TelemetryTold } from '../../domain/machines/telemetry.js';
import type { ownSoftwareId, Software, SoftwareCapabilities } from '../../domain/rentals/software.js';

/** What a machine starts: a template, or an image of its renter's own. */
export type StartId = TemplateId | typeof ownSoftwareId;

/**
 * The port to an upstream that rents out GPU machines. Each call has a time limit, and each failure is a
 * `ProviderError` whose kind says what may have happened upstream (decision 19, "Order of an opening", decision 20,
 * "Wallet lock while buying", decision 21, "Lost upstream answers", and decision 22, "Machines of nobody").
 */
export interface Provider {
  /** Short code, shown to users as `providerCode`. */
  readonly code: string;
  /** How long a pod may take to become reachable before it counts as failed; an offer's own boot time may extend it. */
  readonly provisionDeadlineMs: number;
  /**
   * What a pod's disk may cost above its offer: the upstream's price may or may not include it. We pay it. Absent:
   * nothing.
   */
  readonly diskPrice?: { readonly centsPerGbHour: number; readonly usualGb: number };
  /** The smallest time between two creates, in milliseconds: more machines are bought in turn. Absent: none. */
  readonly createEveryMs?: number;
  /** What this upstream can start; rentals of other templates go elsewhere. */
  readonly templates: ReadonlySet<StartId>;
  /** What it can do with a renter's own software; absent: nothing. */
  readonly software?: SoftwareCapabilities;
  /**
   * Where a script of ours can run before anything of the renter's, and tell how the GPUs are: on the machine itself, or
   * inside of a container; absent: nowhere.
   */
  readonly proof?: 'machine' | 'container';
  /** Whether its list tells when it last started a machine. Absent: it does not. */
  readonly tellsRestarts?: boolean;
  /** What its list, or a reporter on them, tells of the use of machines; absent: nothing, not even that of their GPUs. */
  readonly telemetry?: TelemetryTold;
  /** Lists everything on offer now, whole: a missing offer is not for sale. */
  listOffers(): Promise<Offer[]>;
  /**
   * Buys one pod. The tag is ours and never reused, so a lost answer can be looked up.
   * @throws ProviderError; `unknown` means that a pod may exist and must be looked for by its tag
   */
  allocate(request: AllocationRequest): Promise<AllocatedPod>;
  /** Finds the pod that carries this tag, in any state but gone. */
  find(tag: string, wait?: Wait): Promise<Pod | undefined>;
  /**
   * Lists all pods that carry this deployment's tag prefix, in one call or one per page, however long that takes.
   * @param tell is told of each part that came, and not for longer than a minute of none (decision 190, "Lists of any
   *   length"); what it throws ends the reading. Without it, an answer of one call must be whole within a minute
   * @throws ProviderError also for a list of which a part is missing
   */
  listPods(tell?: () => void): Promise<Pod[]>;
  /**
   * Asks the upstream to end a pod. Idempotent. Its answer does not prove that the pod is gone: only the pod's absence
   * from two lists does.
   */
  terminate(podId: string, wait?: Wait): Promise<void>;
  /**
   * Lets the upstream itself end a pod at this time, in case this service is gone by then: the dead man's switch.
   * Absent where the upstream has none.
   */
  endBy?(podId: string, at: Date): Promise<void>;
  /** What our account there keeps for starting machines. Absent where it keeps nothing. */
  readonly credentials?: KeptCredentials;
  /**
   * Asks whether the upstream's quotas leave room for a read that can wait. The answer 0 counts the read, so the caller
   * must make it. Absent where the upstream tells of no quotas (decision 93, "Quotas and upstream money").
   * @returns for how long the read is put off, in milliseconds
   */
  pace?(read: 'offers' | 'pods'): Promise<number>;
  /**
   * Reads the balance of our account there. Absent where the upstream does not tell (decision 157, "Four upstreams").
   * @throws ProviderError
   */
  readBalance?(): Promise<AccountBalance>;
}

/** The credentials of registries in our account at an upstream. */
export interface KeptCredentials {
  /** Lists those that were made for machines of ours. @throws ProviderError */
  list(): Promise<KeptCredential[]>;
  /** Removes one, unless a machine still pulls by it. Idempotent. @throws ProviderError */
  remove(id: string): Promise<void>;
}

export interface KeptCredential {
  readonly id: string;
  /** Of the machine for which it was made. */
  readonly tag: string;
}

/** A prepaid account at an upstream. */
export interface AccountBalance {
  /** May be below zero. */
  readonly balanceCents: number;
  /** The cost of everything that runs in the account. */
  readonly burnCentsPerHour: number;
}

/** How long a caller can wait for a call, all its requests together. */
export interface Wait {
  /** The instant, on the clock of `performance.now()`, at which the call fails as one that got no answer. */
  readonly untilMs?: number | undefined;
}

/** Something in an answer that was left out or taken with care. Operators are told; it is never a reason to fail. */
export interface Oddity {
  readonly kind:
    | 'malformed'
    | 'unknown_gpu'
    | 'unknown_region'
    | 'unusable_count'
    | 'unknown_status'
    | 'unfit_system';
  /** The upstream's own word for it. */
  readonly subject: string;
}

export interface Offer {
  /** The upstream's own name of the offer: stable, unique within the provider. */
  readonly offerId: string;
  /** Canonical model code, for example H100_SXM_80GB. */
  readonly model: string;
  readonly family: string;
  /** Per GPU. */
  readonly vramGb: number;
  readonly gpuCount: number;
  /** For the whole offer, fractions of a cent rounded up. */
  readonly pricePerHourCents: number;
  readonly region: string;
  /** ISO 3166 country code. */
  readonly regionCode: string;
  readonly interconnect: string;
  /** The upstream's own limit for its boot; absent or null when it does not say. */
  readonly maxBootMs?: number | null;
  /** What it can start; absent: all that the provider can start. */
  readonly templates?: readonly StartId[];
  /** What the machine has beside its GPUs, as far as the upstream tells it. */
  readonly machine?: MachineFacts;
  /** When its contract ends at the upstream; absent: never. */
  readonly availableUntil?: Date;
  /** The upstream's own name of the machine that it is on, which other offers may be on as well; absent: it tells none. */
  readonly host?: string;
}

/** The rest of a machine; null or absent where the upstream does not tell. */
export interface MachineFacts {
  readonly vcpus?: number | null;
  readonly memoryGb?: number | null;
  readonly diskGb?: number | null;
  /** How fast it downloads. */
  readonly networkMbps?: number | null;
  /** The newest CUDA that its driver runs. */
  readonly cudaVersion?: string | null;
  readonly driverVersion?: string | null;
}

export interface AllocationRequest extends Wait {
  readonly tag: string;
  readonly offerId: string;
  readonly gpuCount: number;
  readonly templateId: string;
  /** The most that an hour of the pod may cost. */
  readonly maxPricePerHourCents: number;
  /** The renter's own; absent: the template alone. */
  readonly software?: Software | undefined;
  /** Lines of sh that fetch the renter's start script, with arguments and variables, and run it; absent: it is in `software`. */
  readonly bootstrap?: readonly string[] | undefined;
  /** Where the machine tells how its GPUs are; absent: nowhere. */
  readonly report?: ReportTarget | undefined;
  /** Where the machine tells how much it is used; absent: nowhere. */
  readonly reporter?: ReportTarget | undefined;
  /** Opens the notebook of a template that has one; absent for the others. */
  readonly notebookToken?: string | undefined;
  /** OpenSSH lines of the renter's keys; none where they want no SSH. They are joined by a throw-away key of which no private half is kept. */
  readonly publicKeys: readonly string[];
  /** When the upstream itself shall end the pod, if nobody changes it; null for never. See Provider.endBy. */
  readonly endBy: Date | null;
}

export interface AllocatedPod {
  readonly podId: string;
  /** As read back from the upstream; null when it does not tell. */
  readonly pricePerHourCents: number | null;
}

/** `lost` is the upstream's own decisive word that the pod ended (error, deleted, preempted). */
export type PodStatus = 'pending' | 'active' | 'lost' | 'ending';

export interface Pod {
  readonly podId: string;
  readonly tag: string;
  readonly status: PodStatus;
  /** The upstream's own word, kept for operators. */
  readonly upstreamStatus: string;
  readonly host: string | null;
  readonly port: number | null;
  readonly username: string | null;
  readonly pricePerHourCents: number | null;
  /** The ports that the upstream has mapped; absent where it maps none, and each is open at the host itself. */
  readonly ports?: readonly PodPort[];
  /** Absent where the upstream tells none, or not now. */
  readonly use?: ListedUse | undefined;
  /** Absent where the upstream tells nothing of it. */
  readonly hardware?: ListedHardware;
  /** When the upstream last started it; null or absent where it does not tell, or not yet. */
  readonly startedAt?: Date | null;
}

/**
 * - no_capacity: nothing was bought, the next offer may be tried.
 * - refused: nothing was bought and the provider will refuse others too (auth, quota, balance, a bug of ours).
 * - rate_limited: nothing was bought; again after retryAfterMs.
 * - unknown: the outcome is not known (timeout, reset, 5xx): look for the tag.
 */
export type ProviderErrorKind = 'no_capacity' | 'refused' | 'rate_limited' | 'unknown';

export class ProviderError extends PeerError {
  override readonly name = 'ProviderError';
  constructor(
    readonly kind: ProviderErrorKind,
    message: string,
    readonly details: {
      status?: number;
      retryAfterMs?: number;
      podId?: string;
      /** Our account there has no money left: a matter for operators, not of this offer. */
      noFunds?: boolean;
      /** The upstream's own code of the failure. */
      code?: string;
      /** Others had their turn just now: the upstream stays for sale, and this call is made later or elsewhere. */
      outOfTurn?: boolean;
      /** A purchase or an end, which comes before all reads, has used up our own request budget: operators are told. */
      overBudget?: boolean;
      /** The order is larger than this upstream takes from anybody, and was not sent: none of its other offers takes it either. */
      unfitOrder?: boolean;
      /** Our account there is set up so that we must not rent with it: operators are told. */
      unfitAccount?: boolean;
    } = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  get isOfPeer(): boolean {
    const { status = 0, noFunds = false, unfitAccount = false } = this.details;
    return (
      ['unknown', 'rate_limited'].includes(this.kind) ||
      noFunds ||
      unfitAccount ||
      statusesOfAll.includes(status)
    );
  }

  /** The failure without the upstream's own words, for readers who must not see those. */
  get briefly(): string {
    return this.details.status === undefined ? this.kind : `${this.kind}, HTTP ${this.details.status}`;
  }
}
