import { MINUTE, SECOND } from '../durations.js';

/** How machines are watched at their upstreams and asked over SSH. Durations are milliseconds. */
export const machineLimits = {
  /** spec: Provisioning poll interval. */
  pollMs: 2 * SECOND,
  /** While nothing waits at an upstream and nothing is young, its lists are read every so many polls. */
  idlePolls: 5,
  /** However small an upstream's quotas, it is read once in this time: what nobody looks at may be lost unseen. */
  slowestReadMs: MINUTE,
  /** How often the balance of our account at an upstream is read. */
  balanceEveryMs: 5 * MINUTE,
  /** More than this share of an upstream's machines vanishing at once is rather a fault of its list. */
  vanishedShare: 0.2,
  /** A pod that was told to end and is still there after this is told to operators. */
  slowEndMs: 15 * MINUTE,

  /** How long an SSH daemon may take to accept, to send its identification line (RFC 4253 4.2), to show its key. */
  sshConnectMs: 1_500,
  sshIdentMs: 1_500,
  sshHostKeyMs: 1_500,
  /** At most so many daemons are asked at once by one worker: more only makes each wait. */
  probesAtOnce: 256,
  /** A running machine is asked this often, and called silent after so many times in a row. */
  reachEveryMs: 30 * SECOND,
  silentProbes: 3,
} as const;
