import { join } from 'node:path';
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
}

/** Finds the files' places. A path that is not absolute is ignored, as the specification asks. */
export function pathsOf({ env, home }: Pick<Surroundings, 'env' | 'home'>): Paths {
  const base = (variable: string, otherwise: string): string => {
    const given = env[variable];
    return join(given?.startsWith('/') === true ? given : join(home, otherwise), folder);
  };
  const config = base('XDG_CONFIG_HOME', '.config');
  return {
    profiles: join(config, 'profiles.json'),
    credentials: join(config, 'credentials.json'),
    identity: join(base('XDG_DATA_HOME', '.local/share'), 'id_ed25519'),
    knownHosts: join(base('XDG_STATE_HOME', '.local/state'), 'known_hosts'),
  };
}
