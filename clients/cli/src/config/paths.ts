import { isAbsolute, join } from 'node:path';
import { usageFailure } from '../failure.js';
import type { Surroundings } from '../surroundings.js';

const folder = 'gpu-rental';

/** Where the command keeps its files (XDG Base Directory Specification 0.8). */
export interface Paths {
  /** Which services are known, and who signed in there: no secrets. */
  readonly profiles: string;
  /** Keys of the API and secrets for signing; 0600. */
  readonly credentials: string;
  /** The key pair by which this machine enters rented ones; 0600. */
  readonly identity: string;
  /** A folder with one known_hosts file for each rental. */
  readonly knownHosts: string;
  /** A folder with one file for each rental that was entered: how it is reached. */
  readonly machines: string;
  /** A folder with one file of ssh's configuration for each sign-in. */
  readonly sshConfig: string;
  /** The roots that were kept, by which proofs of the ledger are judged. */
  readonly roots: string;
}

/**
 * Finds the files' places, each when it is needed. A path that is not absolute is ignored, as the specification asks.
 * @throws Failure where there is no home folder: files would be left wherever the command is run
 */
export function pathsOf({ env, home }: Pick<Surroundings, 'env' | 'home'>): Paths {
  const base = (variable: string, otherwise: string): string => {
    const given = env[variable];
    if (given?.startsWith('/') === true) return join(given, folder);
    if (isAbsolute(home)) return join(home, otherwise, folder);
    throw usageFailure(
      'There is no home folder for files.',
      `Set HOME, or ${variable}, to one of your folders. With GPU_API_KEY and GPU_API_URL most commands need none.`,
    );
  };
  const config = (name: string): string => join(base('XDG_CONFIG_HOME', '.config'), name);
  return {
    get profiles() {
      return config('profiles.json');
    },
    get credentials() {
      return config('credentials.json');
    },
    get identity() {
      return join(base('XDG_DATA_HOME', '.local/share'), 'id_ed25519');
    },
    get knownHosts() {
      return join(base('XDG_STATE_HOME', '.local/state'), 'known_hosts');
    },
    get machines() {
      return join(base('XDG_STATE_HOME', '.local/state'), 'machines');
    },
    get sshConfig() {
      return join(base('XDG_STATE_HOME', '.local/state'), 'ssh_config.d');
    },
    get roots() {
      return join(base('XDG_DATA_HOME', '.local/share'), 'roots');
    },
  };
}
