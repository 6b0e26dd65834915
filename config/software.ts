import { SECOND } from '../domain/durations.js';
import { softwareLimits } from '../domain/rentals/software.js';
import { integer, text, withDefault, type ValuesOf } from './variables.js';

/** What renters run of their own (docs/own-software.md). */
export const softwareVariables = {
  OWN_SOFTWARE_GRACE_SECONDS: withDefault(
    integer(0, softwareLimits.graceMaxMs / SECOND),
    softwareLimits.graceMs / SECOND,
  ),
  INSTALLATION_KEY: withDefault(
    text
      .trim()
      .allow('')
      .pattern(/^([A-Za-z0-9+/]{43}=)?$/, '32 bytes in base64'),
    '',
  ),
};

export function softwareOf(env: ValuesOf<typeof softwareVariables>) {
  return {
    /** How long after its upstream calls a machine running it is billed at the latest. */
    graceMs: env.OWN_SOFTWARE_GRACE_SECONDS * SECOND,
    /** Hashes requests that hold secrets; empty: they can't be repeated by an Idempotency-Key. */
    installationKey: env.INSTALLATION_KEY,
  };
}
