import Joi from 'joi';
import { SECOND } from '../domain/durations.js';
import { softwareLimits } from '../domain/rentals/software.js';
import { integer, optional, port, text, url, withDefault, withoutSlash, type ValuesOf } from './variables.js';

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
  // The machines of trials alone reach it without TLS.
  MACHINE_URL: optional(
    url('https')
      .when('ALLOW_PRIVATE_MACHINES', { is: Joi.valid(true), then: url('https', 'http') })
      .pattern(/^[\w.:/[\]~-]+$/, 'an address without a query')
      .empty(''),
  ),
};

/** Where the listener that machines call listens. */
export const listenerVariables = {
  MACHINE_HOST: withDefault(text, '127.0.0.1'),
  MACHINE_PORT: withDefault(port, 8090),
};

export function softwareOf(env: ValuesOf<typeof softwareVariables>) {
  return {
    /** How long after its upstream calls a machine running it is billed at the latest. */
    graceMs: env.OWN_SOFTWARE_GRACE_SECONDS * SECOND,
    /** Hashes requests that hold secrets; empty: they can't be repeated by an Idempotency-Key. */
    installationKey: env.INSTALLATION_KEY,
    /** Where machines reach the listener; null: they fetch nothing from us. Their tokens need the installation's key. */
    machineUrl: env.MACHINE_URL && env.INSTALLATION_KEY !== '' ? withoutSlash(env.MACHINE_URL) : null,
  };
}

export function listenerOf(env: ValuesOf<typeof listenerVariables>) {
  return { host: env.MACHINE_HOST, port: env.MACHINE_PORT };
}
