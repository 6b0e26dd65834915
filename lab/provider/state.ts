import { readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GpuFault } from './faults.js';
import type { PortForward } from './port-forwards.js';

/** The words of Shadeform's instance status. */
export type LabPodStatus =
  | 'creating'
  | 'pending_provider'
  | 'pending'
  | 'active'
  | 'error'
  | 'deleting'
  | 'deleted';

/** The upstream API that bought a pod; only this API shows it. */
export type LabDialect = 'shadeform' | 'runpod' | 'vast' | 'lambda';

/** What an upstream tells of a machine's use. */
export interface LabUse {
  /** Of each GPU; null: `N/A`, as of a slice of one. One number tells of all. */
  readonly gpuPercent: number | null | readonly (number | null)[];
  readonly cpuPercent: number | null;
  readonly memoryPercent: number | null;
  /** The upstream tells none at all, or goes on telling what it knew before. */
  readonly told: 'well' | 'absent' | 'stale';
}

/** How a machine is started again. */
export interface LabRestart {
  readonly isTold?: boolean;
  readonly aheadMs?: number;
}

export interface LabPod {
  readonly id: string;
  /** Default: Shadeform's. */
  readonly dialect?: LabDialect;
  readonly name: string;
  readonly tags: readonly string[];
  readonly cloud: string;
  readonly type: string;
  readonly region: string;
  readonly os: string;
  readonly priceCents: number;
  readonly sshKeyId: string | null;
  /** The registered key as it was at create, or the lines that came with the request. */
  readonly publicKey: string | null;
  readonly base64Script: string | null;
  readonly envs: readonly { readonly name: string; readonly value: string }[];
  /** SEC1 PEM, P-256: ssh2 reads no PKCS#8, and its own generator makes unreadable Ed25519 keys now and then. */
  readonly hostKey: string;
  readonly createdAtMs: number;
  /** The time at which it will be up; null for a pod that never boots. */
  readonly bootAtMs: number | null;
  status: LabPodStatus;
  statusDetails: string;
  /** Its SSH port; null before it was first up. Kept over restarts. */
  port: number | null;
  activeAtMs: number | null;
  /** When it was last started again; absent: never. */
  startedAtMs?: number;
  deletedAtMs: number | null;
  /** True: active in the lists, but nothing listens. */
  unreachable: boolean;
  /** The behaviour of its daemon; default: well. */
  readonly ssh?: 'well' | 'silent' | 'refused';
  /** What is wrong with its GPUs; default: nothing. */
  readonly gpuFault?: GpuFault | null;
  /** Whether its upstream's list shows another model. */
  readonly isListedOtherwise?: boolean;
  /** The instants from which the lists show it, and from which its id is known; default: at once. */
  readonly listedAtMs?: number;
  readonly knownAtMs?: number;
  /** Another pod's port, which it shows in place of its own for a while. */
  shownPort?: number | null;
  /** The time at which the upstream itself ends it. */
  endByMs?: number | null;
  /** Of a container: what its image is given, the ports that are opened (`8080/http`), and by what it is pulled. */
  readonly args?: string;
  readonly ports?: readonly string[];
  readonly registryId?: string | null;
  readonly disk?: number;
  /** What its upstream tells of its use; absent: it idles. */
  use?: LabUse;
  /** The numbers under which its tcp ports are open now. */
  forwards?: readonly PortForward[];
}

/** Credentials of a registry that an account keeps. */
export interface LabRegistry {
  readonly id: string;
  readonly name: string;
  readonly username: string;
  readonly password: string;
}

/** Tells whether a pod was bought by this API. */
export function isOfDialect(pod: LabPod, dialect: LabDialect): boolean {
  return (pod.dialect ?? 'shadeform') === dialect;
}

export interface LabSshKey {
  readonly id: string;
  readonly name: string;
  readonly publicKey: string;
}

export interface LabState {
  readonly pods: LabPod[];
  readonly sshKeys: LabSshKey[];
  readonly registries: LabRegistry[];
  /** The keys of Lambda's dialect, which knows them by their names. */
  readonly lambdaKeys: LabSshKey[];
}

/** A state as its file has it; that of an earlier release lacks what is newer. */
type KeptState = Pick<LabState, 'pods' | 'sshKeys'> & Partial<LabState> & { version: number };

/** The number of ended pods that are kept, for tests and a look back. */
const ENDED_KEPT = 200;

export interface LabStore {
  readonly state: LabState;
  /**
   * Resolves when the present state is in the file, so that answered changes outlive the lab's process, even a killed
   * one. Changes during a write share the next write. The file is not forced onto the disk: a lab need not outlive the
   * machine.
   */
  save(): Promise<void>;
}

/** Opens the state file of a folder, or begins an empty state. @throws when the file exists and is unreadable */
export function openLabStore(dataDir: string): LabStore {
  const path = join(dataDir, 'state.json');
  const state = readState(path);
  let writing: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;

  async function write(): Promise<void> {
    forgetOldest(state);
    // The file holds host keys, hence its mode. The rename makes the change whole or not at all.
    await writeFile(`${path}.new`, `${JSON.stringify({ version: 1, ...state })}\n`, { mode: 0o600 });
    await rename(`${path}.new`, path);
  }
  return {
    state,
    save() {
      next ??= writing
        .catch(() => undefined)
        .then(() => {
          next = undefined;
          writing = write();
          return writing;
        });
      return next;
    },
  };
}

function readState(path: string): LabState {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      return { pods: [], sshKeys: [], registries: [], lambdaKeys: [] };
    throw error;
  }
  try {
    const { version, pods, sshKeys, registries = [], lambdaKeys = [] } = JSON.parse(text) as KeptState;
    if (version !== 1) throw new Error(`its version is ${version}, not 1`);
    return { pods, sshKeys, registries, lambdaKeys };
  } catch (error) {
    throw new Error(`The lab provider can't read ${path}; remove it to begin anew.`, { cause: error });
  }
}

function forgetOldest(state: LabState): void {
  const ended = state.pods.filter((pod) => pod.status === 'deleted');
  const surplus = new Set(ended.slice(0, Math.max(0, ended.length - ENDED_KEPT)));
  if (surplus.size > 0)
    state.pods.splice(0, state.pods.length, ...state.pods.filter((pod) => !surplus.has(pod)));
}
