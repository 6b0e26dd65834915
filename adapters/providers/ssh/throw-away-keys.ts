import { generateKeyPairSync } from 'node:crypto';
import { fieldsOf, textField } from '../upstream/fields.js';
import { ProviderError, type Wait } from '../provider.js';
import type { HttpAnswer } from '../upstream/http-answer.js';
import type { Upstream } from '../upstream/upstream.js';
import { beforeBuying, errorOfAnswer, throwBeforeBuying } from '../upstream/upstream-errors.js';
import { HOUR, MINUTE } from '../../../domain/durations.js';

/** A sweep for keys without a pod runs at most this often, and takes only keys that no create in flight can need. */
const SWEEP_EVERY_MS = 10 * MINUTE;
const SWEEP_OLDER_THAN_MS = HOUR;
const SWEEP_AT_ONCE = 20;

export interface ThrowAwayKey {
  readonly keyId: string;
  /** `type base64`, as in authorized_keys. */
  readonly publicKey: string;
}

export interface ThrowAwayKeys {
  /** Makes a key pair, drops the private half and registers the public one. @throws ProviderError, never `unknown` */
  add(tag: string, wait?: Wait): Promise<ThrowAwayKey>;
  /** Removes a key in the background; a failure leaves it to the sweep. */
  removeLater(keyId: string): void;
  /** Now and then removes, in the background, keys of ours whose pod is not among these tags. */
  sweepLater(listTags: () => Promise<readonly string[]>): void;
}

/**
 * Makes the throw-away keys of an account. Upstreams want exactly one registered key at create, and must not register
 * the renter's keys: they get a key that nobody can use (decision 14, "SSH keys"). It is registered under the pod's tag
 * and the time. It is removed with the pod, because the upstream reads it some time after create has answered.
 */
export function createThrowAwayKeys(upstream: Upstream, tagPrefix: string): ThrowAwayKeys {
  let sweptAtMs = 0;

  async function remove(keyId: string): Promise<void> {
    await upstream.call('removing a key', {
      method: 'POST',
      path: `/sshkeys/${encodeURIComponent(keyId)}/delete`,
      repeatable: true,
      // A failed removal must not keep the others.
      accepts: () => true,
    });
  }

  async function sweep(listTags: () => Promise<readonly string[]>): Promise<void> {
    const isOld = (key: ReturnType<typeof readKey>): boolean =>
      key.name.startsWith(tagPrefix) && Date.now() - key.madeAtMs > SWEEP_OLDER_THAN_MS;
    // There is a key for each machine.
    const old = await upstream.list('listing keys', {
      path: '/sshkeys',
      name: 'ssh_keys',
      read: (value) => [readKey(value)].filter(isOld),
    });
    const tags = new Set(await listTags());
    const abandoned = old.filter((key) => !tags.has(key.tag));
    for (const key of abandoned.slice(0, SWEEP_AT_ONCE)) await remove(key.keyId);
  }

  return {
    async add(tag, wait = {}) {
      const publicKey = newPublicKey();
      const body = {
        name: `${tag}@${Math.floor(Date.now() / 1000)}`,
        public_key: `${publicKey} ${tag}`,
      };
      const answer = await register(upstream, body, wait);
      const keyId = textField(fieldsOf(answer.body), 'id');
      if (keyId !== null) return { keyId, publicKey };
      throw beforeBuying(errorOfAnswer('registering a key', 'buys_nothing', answer));
    },
    removeLater(keyId) {
      // Nothing depends on it: a remaining key opens nothing, and the sweep finds it.
      remove(keyId).catch(() => undefined);
    },
    sweepLater(listTags) {
      if (Date.now() - sweptAtMs < SWEEP_EVERY_MS) return;
      sweptAtMs = Date.now();
      sweep(listTags).catch(() => undefined);
    },
  };
}

async function register(upstream: Upstream, body: unknown, wait: Wait): Promise<HttpAnswer> {
  try {
    return await upstream.call('registering a key', {
      method: 'POST',
      path: '/sshkeys/add',
      body,
      repeatable: true,
      ...wait,
    });
  } catch (error) {
    return throwBeforeBuying(error);
  }
}

function readKey(value: unknown): { keyId: string; name: string; tag: string; madeAtMs: number } {
  const key = fieldsOf(value);
  const name = textField(key, 'name') ?? '';
  const [tag = '', madeAtSeconds] = name.split('@');
  // A name without a time is none of these keys: NaN is never older than anything.
  return { keyId: textField(key, 'id') ?? '', name, tag, madeAtMs: Number(madeAtSeconds ?? NaN) * 1000 };
}

/** Returns the public half of a new Ed25519 key, in the form of RFC 8709 section 4. The private half is not kept. */
export function newPublicKey(): string {
  const { publicKey } = generateKeyPairSync('ed25519');
  const { x = '' } = publicKey.export({ format: 'jwk' });
  const parts = [Buffer.from('ssh-ed25519'), Buffer.from(x, 'base64url')].map((part) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(part.length);
    return Buffer.concat([length, part]);
  });
  return `ssh-ed25519 ${Buffer.concat(parts).toString('base64')}`;
}

/** Checks that an OpenSSH line is one key and nothing else, and drops its comment, which may name a person. */
export function bareKey(line: string): string {
  const match =
    /^(ssh-(?:rsa|ed25519)|ecdsa-sha2-nistp(?:256|384|521)|sk-[a-z0-9@.-]+) ([A-Za-z0-9+/]+={0,2})(?: [^\r\n]*)?$/.exec(
      line.trim(),
    );
  if (!match?.[1] || !match[2]) {
    throw new ProviderError('refused', 'a public key is not a single OpenSSH line: check it before renting');
  }
  return `${match[1]} ${match[2]}`;
}
