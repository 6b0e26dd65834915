import { createHash, createPublicKey, generateKeyPairSync } from 'node:crypto';
import ssh2 from 'ssh2';
import { accountLimits } from '../../domain/accounts/limits.js';
import { Refusal } from '../../domain/refusal.js';
import { fieldRefusal } from '../http/validation.js';

export interface PublicKey {
  /** One OpenSSH line of type and key, without the comment. */
  readonly line: string;
  /** As `ssh-keygen -l` prints it. */
  readonly fingerprint: string;
}

const LINE = /^(?<type>[a-z0-9@.-]+) (?<blob>[A-Za-z0-9+/]+={0,2})(?: .*)?$/;
const ACCEPTED = new Set([
  'ssh-rsa',
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
]);
const { minRsaBits, maxRsaBits } = accountLimits;

/**
 * Reads an OpenSSH public key line.
 * @param field the name of its field in the request
 * @throws Refusal weak_key for RSA below 2048 bits and for other kinds than RSA, ECDSA and Ed25519 (decision 14, "SSH
 *   keys"); validation_failed for a text that is no public key, and for RSA above 8192 bits
 */
export function parsePublicKey(text: string, field = 'publicKey'): PublicKey {
  const { type, blob } = LINE.exec(text.trim())?.groups ?? {};
  if (type === undefined || blob === undefined || typeInside(blob) !== type) throw notAKey(field);
  if (!ACCEPTED.has(type)) {
    throw new Refusal('weak_key', `Keys of type ${type} are not accepted. Use Ed25519, ECDSA, or RSA.`);
  }
  const key = ssh2.utils.parseKey(`${type} ${blob}`);
  if (key instanceof Error) throw notAKey(field);
  refuseSize(rsaBitsOf(key.getPublicPEM(), field), field);
  return lineOf(key);
}

/** Refuses a key by its size: a small key is weak; a large one costs machines and clients more than it is worth. */
function refuseSize(rsaBits: number | undefined, field: string): void {
  if (rsaBits === undefined) return;
  if (rsaBits < minRsaBits) {
    throw new Refusal('weak_key', `This RSA key has ${rsaBits} bits; at least ${minRsaBits} are needed.`);
  }
  if (rsaBits > maxRsaBits) {
    throw fieldRefusal(
      field,
      `${field} is an RSA key of ${rsaBits} bits; at most ${maxRsaBits} are accepted`,
    );
  }
}

/** Makes a P-256 key pair. The private half is a PEM file that `ssh -i` accepts; it is shown once and never kept. */
export function generateKeyPair(): PublicKey & { readonly privateKey: string } {
  const { privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'sec1', format: 'pem' },
  });
  const key = ssh2.utils.parseKey(privateKey);
  if (key instanceof Error) throw key;
  return { ...lineOf(key), privateKey };
}

/** Writes the line anew from the key itself, so that equal keys have equal lines and fingerprints. */
function lineOf(key: ssh2.ParsedKey): PublicKey {
  const blob = key.getPublicSSH();
  const digest = createHash('sha256').update(blob).digest('base64').replace(/=+$/, '');
  return { line: `${key.type} ${blob.toString('base64')}`, fingerprint: `SHA256:${digest}` };
}

/**
 * The second type of a key. An OpenSSH key says its type twice: in front of the key, and as its first field (RFC 4253
 * 6.6).
 */
function typeInside(blob: string): string | undefined {
  const bytes = Buffer.from(blob, 'base64');
  if (bytes.length < 4) return undefined;
  return bytes.subarray(4, 4 + bytes.readUInt32BE(0)).toString('latin1');
}

/** Reads the key by Node's own parser, which refuses points that lie on no curve. */
function rsaBitsOf(pem: string, field: string): number | undefined {
  try {
    return createPublicKey(pem).asymmetricKeyDetails?.modulusLength;
  } catch {
    throw notAKey(field);
  }
}

function notAKey(field: string): Refusal {
  return fieldRefusal(
    field,
    `${field} must be one line of an OpenSSH public key: the content of a file like id_ed25519.pub`,
  );
}
