import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { loadClientConfigProfile, toClientOptions } from '@temporalio/envconfig';
import type { ClientConfigProfile, ConfigDataSource } from '@temporalio/envconfig';
import Joi from 'joi';
import {
  ConfigError,
  filled,
  optional,
  readVariables,
  text,
  trimmed,
  url,
  withDefault,
  yesOrNo,
  type ValuesOf,
  type Variable,
} from './variables.js';

const address = text.pattern(/^[^\s:]+:\d+$/);
const path = optional(trimmed.empty(''));

/**
 * Where Temporal is and how it is entered, by the names that Temporal's own tools read. A file of profiles is read only
 * where TEMPORAL_CONFIG_FILE names one: what lies in a developer's home must not lead the service to another server.
 */
export const temporalVariables = {
  TEMPORAL_ADDRESS: {
    schema: Joi.when('TEMPORAL_CONFIG_FILE', {
      is: filled.required(),
      then: address.empty('').default(null),
      otherwise: address.required(),
    }),
  } as Variable<string | null>,
  TEMPORAL_NAMESPACE: optional(text.empty('')),
  TEMPORAL_API_KEY: optional(trimmed.empty('')),
  TEMPORAL_TLS: optional(yesOrNo.empty('')),
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: path,
  TEMPORAL_TLS_SERVER_CA_CERT_DATA: path,
  TEMPORAL_TLS_CLIENT_CERT_PATH: path,
  TEMPORAL_TLS_CLIENT_CERT_DATA: path,
  TEMPORAL_TLS_CLIENT_KEY_PATH: path,
  TEMPORAL_TLS_CLIENT_KEY_DATA: path,
  TEMPORAL_TLS_SERVER_NAME: path,
  TEMPORAL_CONFIG_FILE: path,
  TEMPORAL_PROFILE: path,
  TEMPORAL_UI_URL: withDefault(url(), 'http://127.0.0.1:8233'),
};

type TemporalValues = ValuesOf<typeof temporalVariables>;

/**
 * Temporal's part of the configuration: the address, the namespace, and what a connection shows and checks.
 * @throws ConfigError naming what can't be read, and the variable that named it
 */
export function temporalOf(env: TemporalValues) {
  const profile = profileOf(env);
  const faults = faultsOf(profile);
  if (faults.length > 0) throw new ConfigError(faults);
  const { address = '', tls, apiKey } = toClientOptions(profile).connectionOptions;
  return {
    address,
    namespace: profile.namespace ?? 'default',
    uiUrl: env.TEMPORAL_UI_URL,
    /** Undefined: neither is encrypted. */
    tls,
    apiKey: typeof apiKey === 'string' ? apiKey : undefined,
    metadata: profile.grpcMeta,
  };
}

/**
 * Reads Temporal's variables alone, as the local stack does for a server that runs already.
 * @throws ConfigError naming every fault
 */
export function readTemporal(env: NodeJS.ProcessEnv) {
  return temporalOf(readVariables(temporalVariables, env));
}

/** The variables as they are, over the profile of the file that they name. */
function profileOf(env: TemporalValues): ClientConfigProfile {
  const set = Object.entries(env)
    .filter(([name, value]) => name.startsWith('TEMPORAL_') && value !== null)
    .map(([name, value]) => [name, String(value)] as const);
  try {
    return loadClientConfigProfile({
      overrideEnvVars: Object.fromEntries(set),
      configFileStrict: true,
      ...fileOf(env),
    });
  } catch (error) {
    throw new ConfigError([`"TEMPORAL_CONFIG_FILE": ${reasonOf(error)}`]);
  }
}

/** The file's text: left to the library, a file that is missing would say nothing. */
function fileOf({ TEMPORAL_CONFIG_FILE: file, TEMPORAL_PROFILE: profile }: TemporalValues) {
  if (file !== null) {
    const data = readFileSync(file, 'utf8');
    if (!/^\s*\[?profile\b/m.test(data)) throw new Error(`${file} has no table [profile.default]`);
    return { configSource: { data } };
  }
  if (profile !== null) throw new Error(`is required, since TEMPORAL_PROFILE asks for ${profile}`);
  return { disableFile: true };
}

/** What the library leaves to the first connection, where it would be a stranger's words. */
function faultsOf({ address, tls }: ClientConfigProfile): string[] {
  if (address === undefined) return ['"TEMPORAL_ADDRESS" is required: the profile names no address either'];
  if (tls === undefined || tls.disabled === true) return [];
  const { clientCert, clientKey, serverCACert } = tls;
  const faults = [
    faultOf('TEMPORAL_TLS_SERVER_CA_CERT', serverCACert, (pem) => new X509Certificate(pem)),
    faultOf('TEMPORAL_TLS_CLIENT_CERT', clientCert, (pem) => new X509Certificate(pem)),
    faultOf('TEMPORAL_TLS_CLIENT_KEY', clientKey, createPrivateKey),
  ].filter((fault) => fault !== undefined);
  return faults.length > 0 ? faults : pairFaults(clientCert, clientKey);
}

function pairFaults(certificate?: ConfigDataSource, key?: ConfigDataSource): string[] {
  if (certificate === undefined && key === undefined) return [];
  if (certificate === undefined || key === undefined) {
    const [given, missing] = certificate ? ['CERT', 'KEY'] : ['KEY', 'CERT'];
    return [`"TEMPORAL_TLS_CLIENT_${missing}_PATH" is required with TEMPORAL_TLS_CLIENT_${given}`];
  }
  const fits = new X509Certificate(pemOf(certificate)).checkPrivateKey(createPrivateKey(pemOf(key)));
  return fits
    ? []
    : ['"TEMPORAL_TLS_CLIENT_KEY_PATH": the key is another than that of TEMPORAL_TLS_CLIENT_CERT'];
}

function faultOf(
  name: string,
  source: ConfigDataSource | undefined,
  read: (pem: Buffer) => unknown,
): string | undefined {
  if (source === undefined) return undefined;
  try {
    read(pemOf(source));
    return undefined;
  } catch (error) {
    return 'path' in source
      ? `"${name}_PATH": ${source.path} can't be used (${reasonOf(error)}). Name a PEM file that this process may read`
      : `"${name}_DATA" can't be used (${reasonOf(error)}). Give it the text of a PEM file`;
  }
}

function pemOf(source: ConfigDataSource): Buffer {
  return 'path' in source ? readFileSync(source.path) : Buffer.from(source.data);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
