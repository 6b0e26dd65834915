import { usageFailure } from '../failure.js';
import type { Surroundings } from '../surroundings.js';
import { readJsonFile, removeFile, writePrivately } from './files.js';
import { pathsOf, type Paths } from './paths.js';

/** Who signed in at a service, and by which key. */
export interface Profile {
  readonly email: string | null;
  readonly keyId: string | null;
  /** ISO 8601, UTC. */
  readonly keyExpiresAt: string | null;
}

/** Secrets that belong to one service. */
export interface Credentials {
  readonly apiKey?: string;
  /** By which `gpu webhooks listen` signs. */
  readonly webhookSecret?: string;
}

/** Where a sign-in is kept: at the service's address, or, with a name, beside it. No address holds a #. */
export function placeOf(url: string, profile: string | undefined): string {
  return profile === undefined ? url : `${url}#${profile}`;
}

function splitPlace(place: string): { readonly url: string; readonly name: string | undefined } {
  const at = place.indexOf('#');
  return at < 0 ? { url: place, name: undefined } : { url: place.slice(0, at), name: place.slice(at + 1) };
}

/** The local stack's address: `npm start` serves there. */
export const defaultUrl = 'http://127.0.0.1:8080';

/**
 * What the command remembers: a profile and secrets for each sign-in, by its place. Each change reads the file anew
 * and writes it as a whole, so that two commands at once lose nothing but the older of two changes of one service.
 */
export class Store {
  readonly paths: Paths;

  constructor(surroundings: Pick<Surroundings, 'env' | 'home'>) {
    this.paths = pathsOf(surroundings);
  }

  /** All sign-ins: the place of each, and who it is. */
  signIns(): (Profile & {
    readonly place: string;
    readonly url: string;
    readonly name: string | undefined;
  })[] {
    return Object.keys(this.#profiles()).flatMap((place) => {
      const profile = this.profile(place);
      return profile === undefined ? [] : [{ place, ...splitPlace(place), ...profile }];
    });
  }

  /**
   * Keeps a sign-in beside another one that takes its place: its key goes on, so it must not be forgotten.
   * @returns the name of the profile that it has from now on
   */
  keepAside(place: string): string {
    const { url } = splitPlace(place);
    const profile = this.profile(place) ?? { email: null, keyId: null, keyExpiresAt: null };
    const { apiKey = '' } = this.credentials(place);
    const wanted = profile.email ?? `key-${apiKey.slice(-4)}`;
    const isFree = (name: string): boolean => {
      const there = this.credentials(placeOf(url, name)).apiKey;
      return there === undefined || there === apiKey;
    };
    const more = Array.from({ length: 100 }, (_, index) => `${wanted}-${index + 2}`);
    const name = [wanted, ...more].find(isFree) ?? wanted;
    this.keepSignIn(placeOf(url, name), profile, apiKey);
    return name;
  }

  /** The address of the service that was signed in to last, or last by the profile of a name. */
  currentUrl(name?: string): string | undefined {
    const { current } = readJsonFile(this.paths.profiles);
    const last = typeof current === 'string' ? current : undefined;
    if (name === undefined) return last;
    const urls = this.signIns().flatMap((known) => (known.name === name ? [known.url] : []));
    return last !== undefined && urls.includes(last) ? last : (urls.at(-1) ?? last);
  }

  profile(url: string): Profile | undefined {
    const found = recordIn(readJsonFile(this.paths.profiles), 'profiles')[url];
    if (!isRecord(found)) return undefined;
    return {
      email: text(found, 'email'),
      keyId: text(found, 'keyId'),
      keyExpiresAt: text(found, 'keyExpiresAt'),
    };
  }

  credentials(url: string): Credentials {
    const found = readJsonFile(this.paths.credentials)[url];
    if (!isRecord(found)) return {};
    const apiKey = text(found, 'apiKey');
    const webhookSecret = text(found, 'webhookSecret');
    return { ...(apiKey !== null && { apiKey }), ...(webhookSecret !== null && { webhookSecret }) };
  }

  /** Keeps a sign-in. The secret is written first: a profile without its key would only be confusing. */
  keepSignIn(url: string, profile: Profile, apiKey: string): void {
    this.keepSecrets(url, { apiKey });
    this.#writeProfiles(splitPlace(url).url, { ...this.#profiles(), [url]: profile });
  }

  /** Adds secrets to those of a service. */
  keepSecrets(url: string, more: Credentials): void {
    const all = readJsonFile(this.paths.credentials);
    writeJson(this.paths.credentials, { ...all, [url]: { ...this.credentials(url), ...more } });
  }

  /**
   * Forgets the sign-in at a service.
   * @param withWebhooks whether the secret of its webhooks goes as well
   */
  forget(url: string, { withWebhooks = false } = {}): void {
    const secrets = { ...readJsonFile(this.paths.credentials) };
    const { webhookSecret } = withWebhooks ? { webhookSecret: undefined } : this.credentials(url);
    if (webhookSecret === undefined) Reflect.deleteProperty(secrets, url);
    else secrets[url] = { webhookSecret };
    if (Object.keys(secrets).length === 0) removeFile(this.paths.credentials);
    else writeJson(this.paths.credentials, secrets);
    const profiles = { ...this.#profiles() };
    Reflect.deleteProperty(profiles, url);
    this.#writeProfiles(this.currentUrl(), profiles);
  }

  #profiles(): Readonly<Record<string, unknown>> {
    return recordIn(readJsonFile(this.paths.profiles), 'profiles');
  }

  #writeProfiles(current: string | undefined, profiles: Readonly<Record<string, unknown>>): void {
    writeJson(this.paths.profiles, { current, profiles });
  }
}

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Reads the address of a service as its user wrote it. A path stays: a key never goes to whatever else is at that host.
 * @throws Failure unless it is https, or http on this machine: a key never crosses a network in the clear
 */
export function readUrl(given: string): string {
  const withScheme = /^[a-z]+:\/\//i.test(given) ? given : `https://${given}`;
  const url = URL.canParse(withScheme) ? new URL(withScheme) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol) || hasMore(url)) {
    throw usageFailure(
      `"${given}" is not the address of a service.`,
      'It looks like https://gpu.example.com',
    );
  }
  if (url.protocol === 'http:' && !loopback.test(url.hostname)) {
    throw usageFailure(
      `${url.origin} is not encrypted: others could read your key.`,
      `Use https://${url.host} instead.`,
    );
  }
  // The paths of the API are below it, and begin with /v1 themselves.
  return `${url.origin}${url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '')}`;
}

function hasMore({ username, password, search, hash }: URL): boolean {
  return [username, password, search, hash].some((part) => part !== '');
}

function writeJson(file: string, value: unknown): void {
  writePrivately(file, `${JSON.stringify(value, null, 2)}\n`);
}

function recordIn(
  record: Readonly<Record<string, unknown>>,
  name: string,
): Readonly<Record<string, unknown>> {
  const value = record[name];
  return isRecord(value) ? value : {};
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function text(record: Readonly<Record<string, unknown>>, name: string): string | null {
  const value = record[name];
  return typeof value === 'string' ? value : null;
}
