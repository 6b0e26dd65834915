/** How often a fault still strikes: a number of times, or until it is cleared. */
export type Times = number | 'until_cleared';

/** The ways in which a pod fails: the upstream says so, takes it away, loses it, or only its daemon is dead. */
export const crashModes = ['error', 'preempted', 'vanish', 'unreachable'] as const;
export type CrashMode = (typeof crashModes)[number];

/**
 * What may be wrong with the GPUs of a machine, as its nvidia-smi tells it: another model, one too few, memory errors, no
 * answer of a card, none at all, a slice, a driver that is not loaded, and an nvidia-smi that hangs.
 */
export const gpuFaults = [
  'wrong_model',
  'missing_gpu',
  'ecc',
  'wedged',
  'lost',
  'none',
  'sliced',
  'no_driver',
  'hangs',
] as const;
export type GpuFault = (typeof gpuFaults)[number];

/** The endpoints of an upstream, in any dialect. */
export const endpoints = ['offers', 'list', 'create', 'delete', 'balance'] as const;
export type Endpoint = (typeof endpoints)[number];

/** The faults that the lab can be told to show. They live in memory: a restarted lab has none. */
export interface LabFaults {
  /** Creates are refused for lack of capacity; `types` limits that to some instance types. */
  noCapacity: { times: Times; types: readonly string[] | null } | null;
  /** Creates are refused because the account has no money, in the dialect's own way. */
  noFunds: Times;
  /** While this is not 0, the account at Vast holds an SSH key, which opens each new machine there. */
  accountKey: Times;
  /** While this is not 0, Vast bills traffic by the byte, at $0.01/GB. */
  dearTraffic: Times;
  /** While this is not 0, requests that come too soon after another are refused, as Vast and Lambda do. */
  paced: Times;
  /** While this is not 0, the price that RunPod tells of any pod includes the cost of its disk. */
  diskInPrice: Times;
  /** The pod is made, and the create gets no answer. */
  loseCreateAnswer: Times;
  /** The pod is made, and the create is answered with a 500. */
  failCreateAfterMake: Times;
  /** Creates are refused by a rate limit. */
  rateLimitCreate: { times: Times; retryAfterSeconds: number | null } | null;
  /** Requests to these endpoints are refused by a rate limit. */
  rateLimit: { times: Times; retryAfterSeconds: number | null; on: readonly Endpoint[] } | null;
  /** Requests to these endpoints are answered with a 500 and change nothing. */
  failRequest: { times: Times; on: readonly Endpoint[] } | null;
  /** The pod never gets beyond `pending`. */
  bootNever: Times;
  /** The pod costs this much more than its listed price. */
  priceChange: { times: Times; percent: number } | null;
  /** Deletes are answered with a 500 and change nothing. */
  failDelete: Times;
  /** The pod is in no list for this long after it was made. */
  listLag: { times: Times; forMs: number } | null;
  /** The upstream does not know the pod's id for this long: reading it and deleting it are 404. */
  late404: { times: Times; forMs: number } | null;
  /** The pod is up in the lists; its port accepts and stays silent. */
  sshSilent: Times;
  /** The pod is up in the lists, and nothing listens. */
  sshRefused: Times;
  /** The pod crashes this long after it was up. */
  crashAfter: { times: Times; afterMs: number; mode: CrashMode } | null;
  /** The pod shows the address of another pod that is up, for this long. */
  reuseAddress: { times: Times; forMs: number } | null;
  /** The upstream sells the machine twice: the pod that was made fails to start. */
  soldTwice: Times;
  /** The GPUs of the pod are not what was rented, or not well; `listed`: Vast's list shows another model by itself. */
  badGpu: { times: Times; kind: GpuFault; listed: boolean } | null;
}

/** No fault at all. */
export function noFaults(): LabFaults {
  return {
    noCapacity: null,
    noFunds: 0,
    accountKey: 0,
    dearTraffic: 0,
    paced: 0,
    diskInPrice: 0,
    loseCreateAnswer: 0,
    failCreateAfterMake: 0,
    rateLimitCreate: null,
    rateLimit: null,
    failRequest: null,
    bootNever: 0,
    priceChange: null,
    failDelete: 0,
    listLag: null,
    late404: null,
    sshSilent: 0,
    sshRefused: 0,
    crashAfter: null,
    reuseAddress: null,
    soldTwice: 0,
    badGpu: null,
  };
}

/** The faults of one pod, from its making on. */
export interface Ails {
  readonly dearerPercent: number;
  readonly neverBoots: boolean;
  readonly failsToStart: boolean;
  readonly ssh: 'well' | 'silent' | 'refused';
  readonly listLagMs: number;
  readonly unknownForMs: number;
  readonly crash: { readonly afterMs: number; readonly mode: CrashMode } | null;
  readonly borrowsAddressForMs: number;
  readonly gpu: { readonly kind: GpuFault; readonly listed: boolean } | null;
}

/** Draws the faults of the next pod, and uses them up. */
export function drawAils(faults: LabFaults): Ails {
  const crash = findStrike(faults, 'crashAfter');
  return {
    dearerPercent: findStrike(faults, 'priceChange')?.percent ?? 0,
    neverBoots: strikes(faults, 'bootNever'),
    failsToStart: strikes(faults, 'soldTwice'),
    ssh: drawSsh(faults),
    listLagMs: drawMs(faults, 'listLag'),
    unknownForMs: drawMs(faults, 'late404'),
    crash: crash === undefined ? null : { afterMs: crash.afterMs, mode: crash.mode },
    borrowsAddressForMs: drawMs(faults, 'reuseAddress'),
    gpu: findStrike(faults, 'badGpu') ?? null,
  };
}

function drawSsh(faults: LabFaults): Ails['ssh'] {
  if (strikes(faults, 'sshSilent')) return 'silent';
  return strikes(faults, 'sshRefused') ? 'refused' : 'well';
}

function drawMs(faults: LabFaults, name: 'listLag' | 'late404' | 'reuseAddress'): number {
  return findStrike(faults, name)?.forMs ?? 0;
}

type Counted = { [Name in keyof LabFaults]: LabFaults[Name] extends Times ? Name : never }[keyof LabFaults];
type Settled = Exclude<keyof LabFaults, Counted>;

/** Uses up one of a counted fault; tells whether it strikes. */
export function strikes(faults: LabFaults, name: Counted): boolean {
  const [hit, left] = used(faults[name]);
  faults[name] = left;
  return hit;
}

/** Uses up one of a fault with settings; returns the settings when it strikes. */
export function findStrike<N extends Settled>(
  faults: LabFaults,
  name: N,
): NonNullable<LabFaults[N]> | undefined {
  const fault = faults[name];
  if (fault === null) return undefined;
  const [hit, left] = used(fault.times);
  fault.times = left;
  return hit ? fault : undefined;
}

/** The same for a fault of some endpoints: only a fitting endpoint uses it up. */
export function findStrikeOn<N extends 'rateLimit' | 'failRequest'>(
  faults: LabFaults,
  name: N,
  endpoint: Endpoint,
): NonNullable<LabFaults[N]> | undefined {
  return faults[name]?.on.includes(endpoint) === true ? findStrike(faults, name) : undefined;
}

function used(times: Times): [boolean, Times] {
  if (times === 'until_cleared') return [true, times];
  return times > 0 ? [true, times - 1] : [false, 0];
}
