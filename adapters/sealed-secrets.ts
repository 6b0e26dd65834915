import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  randomBytes,
  type KeyObject,
} from 'node:crypto';

/**
 * Secrets of webhooks as the database holds them (decision 102, "Webhooks out"). Whoever has the public key can seal
 * one; only the holder of the private key can open it. A sealed secret is: a version, the first 4 bytes of the key's
 * SHA-256, an X25519 public key made for this secret alone, and the text by AES-256-GCM, whose key is derived (HKDF-
 * SHA-256) from what both keys share. The endpoint's id is authenticated with it, so that no row can take another's.
 */
const VERSION = 1;
const KEY_ID_BYTES = 4;
const PUBLIC_BYTES = 32;
const TAG_BYTES = 16;

/** A sealing key that its holders share with nobody, in base64. */
export interface SealingKeys {
  /** 32 bytes of X25519. The API seals with it. */
  readonly publicKey: string;
  /** 32 bytes of X25519. The worker opens with it. */
  readonly privateKey: string;
}

/** Makes a pair of keys. */
export function newSealingKeys(): SealingKeys {
  const { publicKey, privateKey } = generateKeyPairSync('x25519');
  return {
    publicKey: base64(publicKey.export({ format: 'jwk' }).x),
    privateKey: base64(privateKey.export({ format: 'jwk' }).d),
  };
}

/** Returns the public key of a private one, both in base64. */
export function publicKeyOf(privateKey: string): string {
  return rawPublic(createPublicKey(readPrivate(privateKey))).toString('base64');
}

/** Makes a secret of the form that Standard Webhooks asks for: whsec_ and 32 random bytes in base64. */
export function newWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/** Seals a secret for the holder of the private key. @param about the id of its endpoint */
export function sealSecret(publicKey: string, secret: string, about: string): Buffer {
  const receiver = readPublic(Buffer.from(publicKey, 'base64'));
  const once = generateKeyPairSync('x25519');
  const head = Buffer.concat([Buffer.of(VERSION), keyIdOf(receiver), rawPublic(once.publicKey)]);
  const key = sharedKey(once.privateKey, receiver, head);
  // The key is used for this text alone, so the nonce may be the same each time.
  const cipher = createCipheriv('aes-256-gcm', key, Buffer.alloc(12)).setAAD(Buffer.from(about));
  return Buffer.concat([head, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);
}

/** Opens a sealed secret. @throws Error when none of the keys opens it, or it was changed or is another endpoint's */
export type OpenSecret = (sealed: Buffer, about: string) => string;

/** Makes what opens secrets. @param privateKeys in base64; the older ones still open what was sealed for them */
export function createSecretOpener(privateKeys: readonly string[]): OpenSecret {
  const keys = privateKeys.map((text) => {
    const privateKey = readPrivate(text);
    return { privateKey, id: keyIdOf(createPublicKey(privateKey)) };
  });
  return (sealed, about) => {
    const id = sealed.subarray(1, 1 + KEY_ID_BYTES);
    const known = keys.find((key) => key.id.equals(id));
    if (sealed[0] !== VERSION || !known) throw new Error('no key of WEBHOOK_PRIVATE_KEYS opens this secret');
    const head = sealed.subarray(0, 1 + KEY_ID_BYTES + PUBLIC_BYTES);
    const once = readPublic(head.subarray(1 + KEY_ID_BYTES));
    const decipher = createDecipheriv(
      'aes-256-gcm',
      sharedKey(known.privateKey, once, head),
      Buffer.alloc(12),
    )
      .setAAD(Buffer.from(about))
      .setAuthTag(sealed.subarray(-TAG_BYTES));
    const text = decipher.update(sealed.subarray(head.length, -TAG_BYTES));
    return Buffer.concat([text, decipher.final()]).toString('utf8');
  };
}

function sharedKey(privateKey: KeyObject, publicKey: KeyObject, head: Buffer): Buffer {
  const shared = diffieHellman({ privateKey, publicKey });
  return Buffer.from(hkdfSync('sha256', shared, head, 'gpu-rental webhook secret', 32));
}

function readPublic(raw: Buffer): KeyObject {
  return createPublicKey({
    key: { kty: 'OKP', crv: 'X25519', x: raw.toString('base64url') },
    format: 'jwk',
  });
}

/** The header of PKCS 8 for a raw private key of X25519 (RFC 8410). */
const PKCS8_X25519 = Buffer.from('302e020100300506032b656e04220420', 'hex');

function readPrivate(text: string): KeyObject {
  const key = Buffer.concat([PKCS8_X25519, Buffer.from(text, 'base64')]);
  return createPrivateKey({ key, format: 'der', type: 'pkcs8' });
}

function rawPublic(key: KeyObject): Buffer {
  return Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url');
}

function keyIdOf(publicKey: KeyObject): Buffer {
  return createHash('sha256').update(rawPublic(publicKey)).digest().subarray(0, KEY_ID_BYTES);
}

function base64(raw: string | undefined): string {
  return Buffer.from(raw ?? '', 'base64url').toString('base64');
}
