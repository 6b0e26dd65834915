import { MINUTE, SECOND } from '../durations.js';

/** How long a machine that tells how its GPUs are waits for its driver, which may hang, and then can't even be killed. */
export const DRIVER_WAIT_MS = 20 * SECOND;

/** How the service watches machines at their upstreams and asks them over SSH. Durations are milliseconds. */
export const machineLimits = {
  /** spec: Provisioning poll interval. */
  pollMs: 2 * SECOND,
  /** While nothing waits at an upstream and nothing is young, its lists are read only once in this many polls. */
  idlePolls: 5,
  /**
   * Even an upstream with the smallest quotas is read once in this time: machines that nobody looks at may be lost
   * unseen.
   */
  slowestReadMs: MINUTE,
  /** Reports of use, of which each machine keeps one for a minute, are read once in this many polls. */
  reportedUsePolls: 10,
  /** How often the balance of our account at an upstream is read. */
  balanceEveryMs: 5 * MINUTE,
  /** When more than this share of an upstream's machines vanish at once, the fault is rather in its list. */
  vanishedShare: 0.2,
  /** Machines that nobody can ask vanish truly where fewer than this vanish, and none that can be asked answers. */
  vanishedUnasked: 3,
  /** For how long, at most, operators accept at once that machines missing from an upstream's lists are gone. */
  missingAcceptedMaxMs: 1_000 * MINUTE,
  /** Operators are told of a pod that was told to end and is still there after this. */
  slowEndMs: 15 * MINUTE,

  /**
   * How long a machine may take, from when it first answers, to tell how its GPUs are: its script may have begun only then
   * (decision 174, "Proof of machines").
   */
  proofWaitMs: DRIVER_WAIT_MS + 5 * SECOND,
  /** How long a look at the listener of machines takes at most, and holds. */
  listenerLookMs: SECOND,
  listenerSeenMs: 5 * SECOND,

  /** The times for an SSH daemon to accept, to send its identification line (RFC 4253 4.2), to show its key. */
  sshConnectMs: 1_500,
  sshIdentMs: 1_500,
  sshHostKeyMs: 5 * SECOND,
  /** The most daemons that one worker asks at once: more only makes each wait. */
  probesAtOnce: 256,
  /** A running machine is asked this often. It counts as silent after this many failures in a row. */
  reachEveryMs: 30 * SECOND,
  silentProbes: 3,
} as const;
