import { join } from 'node:path';
import { cliName, findOnPath, isExecutable, versionOf, type FindCliOptions } from './temporal-cli-binary.js';
import { fetchTemporalCli } from './temporal-cli-fetch.js';

/**
 * Finds the Temporal CLI, whose dev server the stack and the tests use: TEMPORAL_CLI_PATH, the PATH, the cache, a
 * download from the documented address (given up after 10 s without an answer), and last a build from source with Go,
 * which takes some minutes once.
 * @returns the path of a CLI that did run
 * @throws Error naming what to install when there is none
 */
export async function findTemporalCli(options: FindCliOptions): Promise<string> {
  const { places, mayFetch = true } = options;
  if (places.explicit !== undefined) {
    if (versionOf(places.explicit) !== undefined) return places.explicit;
    throw new Error(
      `TEMPORAL_CLI_PATH is ${places.explicit}, which does not run as the Temporal CLI. Correct it or unset it.`,
    );
  }
  const cached = join(places.cacheDir, cliName);
  const present = [findOnPath('temporal', places.searchPath), isExecutable(cached) ? cached : undefined];
  const found = present.find((cli) => cli !== undefined && versionOf(cli) !== undefined);
  if (found !== undefined) return found;
  const faults = mayFetch ? await fetchTemporalCli(cached, options) : [];
  if (faults === undefined) return cached;
  throw new Error(
    [
      'No Temporal CLI was found: none on the PATH, none in the cache.',
      ...faults,
      'Install it (https://docs.temporal.io/cli, or Go 1.25 so that it can be built) and start again,',
      'or set TEMPORAL_CLI_PATH to one, or TEMPORAL_ADDRESS to a Temporal server that already runs.',
    ].join('\n  '),
  );
}
