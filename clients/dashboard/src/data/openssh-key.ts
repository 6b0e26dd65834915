import { queryOptions } from '@tanstack/react-query';

/** A pair of Ed25519 keys, as files and services take it. */
export interface KeyPair {
  /** One OpenSSH line of type and key. */
  readonly publicKey: string;
  /** A whole OpenSSH file without a passphrase. */
  readonly privateKey: string;
}

const TYPE = 'ssh-ed25519';
/** What OpenSSH pads to where nothing is encrypted. */
const BLOCK_BYTES = 8;
const LINE_LETTERS = 70;

/**
 * Makes a pair in this browser, which its private half never leaves.
 * @returns undefined where the browser makes no such keys, or the page came by plain http
 */
export async function makeKeyPair(comment: string): Promise<KeyPair | undefined> {
  const { subtle } = globalThis.crypto as { readonly subtle?: SubtleCrypto };
  if (!subtle) return undefined;
  try {
    const pair = await subtle.generateKey('Ed25519', true, ['sign', 'verify']);
    if (!('privateKey' in pair)) return undefined;
    const { d = '', x = '' } = await subtle.exportKey('jwk', pair.privateKey);
    return writtenPair(bytesOf(d), bytesOf(x), comment);
  } catch {
    // An older browser knows the name of no such key.
    return undefined;
  }
}

/** Whether pairs are made in this browser. */
export const makesKeysQuery = queryOptions({
  queryKey: ['makes-keys'],
  queryFn: async () => (await makeKeyPair('')) !== undefined,
  staleTime: Infinity,
});

/**
 * Writes a pair as OpenSSH does (PROTOCOL.key of openssh-portable).
 * @param secret the seed, 32 bytes
 * @param shown the public key, 32 bytes
 */
export function writtenPair(secret: Uint8Array, shown: Uint8Array, comment: string): KeyPair {
  const publicPart = join(field(TYPE), field(shown));
  // The same number twice tells whoever decrypts that the passphrase was right.
  const check = crypto.getRandomValues(new Uint8Array(4));
  const plain = join(check, check, publicPart, field(join(secret, shown)), field(comment));
  const padding = Uint8Array.from({ length: -plain.length & (BLOCK_BYTES - 1) }, (_, place) => place + 1);
  const file = join(
    encode('openssh-key-v1\0'),
    ...[field('none'), field('none'), field('')],
    ...[uint32(1), field(publicPart), field(join(plain, padding))],
  );
  const lines = base64(file).match(new RegExp(`.{1,${LINE_LETTERS}}`, 'g')) ?? [];
  return {
    publicKey: `${TYPE} ${base64(publicPart)}`,
    privateKey: [
      '-----BEGIN OPENSSH PRIVATE KEY-----',
      ...lines,
      '-----END OPENSSH PRIVATE KEY-----',
      '',
    ].join('\n'),
  };
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A text or bytes with their length in front. */
function field(value: string | Uint8Array): Uint8Array {
  const bytes = typeof value === 'string' ? encode(value) : value;
  return join(uint32(bytes.length), bytes);
}

function uint32(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value);
  return bytes;
}

function join(...parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

function base64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}

/** Reads base64 as JSON Web Keys have it. */
function bytesOf(text: string): Uint8Array {
  const plain = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(plain, (letter) => letter.charCodeAt(0));
}
