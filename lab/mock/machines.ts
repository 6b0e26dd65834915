import { createHash, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ssh2 from 'ssh2';
import { nvidiaSmiScript } from '../provider/nvidia-smi.js';
import type { LabGpu } from '../provider/offers.js';
import {
  findPodUser,
  makePodHome,
  podHomeOf,
  prepareHomesDir,
  readAuthorizedKeys,
  removePodHome,
} from '../provider/pod-home.js';
import { createPodProcesses } from '../provider/pod-processes.js';
import { startPodSshServer } from '../provider/pod-ssh-server.js';

const HOST = '127.0.0.1';
const USER_NAME = 'root';

/** Where a machine answers. */
export interface MachineAddress {
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly hostKeyFingerprint: string;
}

/** What a machine is made of. */
export interface MachineParts {
  /** The lines of public keys that open it. */
  readonly keys: readonly string[];
  readonly gpu: LabGpu;
  readonly gpuCount: number;
}

interface Machine {
  readonly address: MachineAddress;
  end(): Promise<void>;
}

/**
 * The machines behind the mock's rentals, as the local stack has them: an SSH daemon each, on loopback, with a real shell
 * in a folder of its own. Who runs the mock as root gets shells of `nobody`.
 */
export class Machines {
  readonly #folder = mkdtempSync(join(tmpdir(), 'gpu-rental-mock-'));
  readonly #homes = prepareHomesDir(this.#folder);
  readonly #machines = new Map<string, Promise<Machine>>();

  /** Begins to make the machine of a rental. */
  begin(id: string, parts: MachineParts): void {
    const machine = this.#make(id, parts);
    // Who asks for its address hears of the failure.
    machine.catch(() => undefined);
    this.#machines.set(id, machine);
  }

  /** Waits for a machine that was begun. @throws Error when it could not be made */
  async addressOf(id: string): Promise<MachineAddress> {
    const machine = await this.#machines.get(id);
    if (!machine) throw new Error(`no machine was begun for ${id}`);
    return machine.address;
  }

  /** Ends a machine with all of its processes and files; nothing where there is none. */
  async end(id: string): Promise<void> {
    const machine = this.#machines.get(id);
    this.#machines.delete(id);
    await machine?.then((made) => made.end()).catch(() => undefined);
  }

  /** Ends all machines. */
  async close(): Promise<void> {
    await Promise.all([...this.#machines.keys()].map((id) => this.end(id)));
    for (const folder of [this.#homes, this.#folder]) rmSync(folder, { recursive: true, force: true });
  }

  async #make(id: string, { keys, gpu, gpuCount }: MachineParts): Promise<Machine> {
    const paths = podHomeOf(this.#homes, id);
    const user = findPodUser();
    const processes = createPodProcesses({ id, envs: [], paths, user, userName: USER_NAME });
    await makePodHome(paths, user, {
      publicKey: keys.join('\n'),
      userName: USER_NAME,
      hostName: `mock-${id.slice(-8).toLowerCase()}`,
      programs: { 'nvidia-smi': nvidiaSmiScript(gpu, gpuCount, id) },
    });
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    const hostKey = privateKey.export({ type: 'sec1', format: 'pem' }).toString();
    const readKeys = (): Promise<string[]> => readAuthorizedKeys(paths);
    const daemon = await startPodSshServer({
      ...{ host: HOST, port: 0, hostKey, userName: USER_NAME, processes, readKeys },
    });
    return {
      address: {
        ...{ host: HOST, port: daemon.port, username: USER_NAME },
        hostKeyFingerprint: fingerprintOf(hostKey),
      },
      async end() {
        processes.killAll();
        await daemon.close();
        await removePodHome(paths);
      },
    };
  }
}

function fingerprintOf(hostKey: string): string {
  const parsed = ssh2.utils.parseKey(hostKey);
  if (parsed instanceof Error) throw parsed;
  const hash = createHash('sha256').update(parsed.getPublicSSH()).digest('base64');
  return `SHA256:${hash.replace(/=+$/, '')}`;
}
