import { isApiError, type Family } from '@gpu-rental/client';
import type { Cli } from '../cli.js';
import { Failure } from '../failure.js';
import { asked, similarTo } from '../output/similar.js';

/** The failure of a family that does not exist, with those that may be meant. */
export function unknownFamily(given: string, families: readonly Family[], cause?: unknown): Failure {
  const similar = similarTo(
    given,
    families.map(({ family }) => family),
  );
  const available = families.filter(({ family, liveCount }) => liveCount > 0 && similar.includes(family));
  const guess = asked(available.length > 0 ? available.map(({ family }) => family) : similar);
  return new Failure(
    'usage',
    `There is no family "${given}".`,
    `${guess === undefined ? '' : `${guess} `}See what is available with: gpu offers`,
    { cause, code: 'unknown_family', details: { familyId: given } },
  );
}

/** Asks for something of a family. @throws Failure as above where the service knows no such family */
export async function ofFamily<T>(cli: Cli, family: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!isApiError(error, 'unknown_family')) throw error;
    // A guess is a help only.
    const families = await cli
      .anyone()
      .catalog.families({ signal: cli.signal })
      .catch(() => []);
    throw unknownFamily(family, families, error);
  }
}
