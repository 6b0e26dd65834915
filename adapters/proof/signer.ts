import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { noHash, sha256 } from './tree.js';

/** A root that is to be signed. */
export interface RootToSign {
  readonly number: number;
  readonly epoch: number;
  /** What it says of itself: number, epoch, night and tree. */
  readonly facts: string;
  /** The newest signed line before it that the database knows; null: it knows none. */
  readonly lineBefore: string | null;
}

/** A root as docs/proof.md writes it: the signed line with its line feed, signatures as hexadecimal digits. */
export interface SignedRoot {
  readonly line: string;
  readonly endorsed: string | null;
  readonly signature: string;
}

/** A root of the file of roots. */
export interface NumberedRoot extends SignedRoot {
  readonly number: number;
}

/** The lines of a root, as its file and proofs hold them. */
export function linesOfRoot({ line, endorsed, signature }: SignedRoot): string {
  return `${line}${endorsed === null ? '' : `endorsed ${endorsed}\n`}signature ${signature}\n`;
}

/** The private key of the process that signs, and the one that it takes over from. */
export interface SigningKeys {
  readonly key: KeyObject;
  readonly before?: KeyObject | undefined;
}

/**
 * Makes a private key (Ed25519), which its owner alone can read.
 * @throws when the file is there already
 */
export function makeKeyFile(file: string): KeyObject {
  const { privateKey } = generateKeyPairSync('ed25519');
  writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600, flag: 'wx' });
  return privateKey;
}

/** @throws when the file holds no private Ed25519 key */
export function readKeyFile(file: string): KeyObject {
  const key = createPrivateKey(readFileSync(file));
  if (key.asymmetricKeyType !== 'ed25519')
    throw new Error(`${file} holds no Ed25519 key: ops ledger key makes one.`);
  return key;
}

/** The public half of a key, as 64 hexadecimal digits. */
export function publicHexOf(key: KeyObject): string {
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' });
  return Buffer.from(x, 'base64url').toString('hex');
}

/**
 * Signs a root and appends it to the file of roots, which lies outside of the database: whoever rewrites that can't rewrite
 * this. A root that the file has already is returned as it was: its signer ended before it could say so, or the database
 * comes from a backup that was made before it did.
 * @throws Error when the root does not follow the file's last one, or the file lacks the one that the database has before it
 */
export function signRoot(root: RootToSign, { key, before }: SigningKeys, rootsFile: string): SignedRoot {
  const roots = readRoots(rootsFile);
  const last = roots.at(-1) ?? nothing;
  const signedBefore = roots.find(({ facts }) => facts === root.facts)?.signed;
  if (signedBefore) return signedBefore;
  const { lineBefore } = root;
  if (lineBefore !== null && !roots.some(({ signed }) => signed?.line === lineBefore)) {
    throw new Error(
      `${rootsFile} holds no root ${lineBefore.split(' ')[2]} as the database has it signed. ` +
        'Nothing is signed: the file is missing, older than the database, or of another one.',
    );
  }
  if (!follows(root, last)) {
    throw new Error(
      `${rootsFile} ends with root ${last.number} of epoch ${last.epoch}, and the database has root ${root.number} of epoch ${root.epoch} to sign. ` +
        'Nothing is signed: the database was restored, or the file is of another one.',
    );
  }
  const publicKey = publicHexOf(key);
  const line = `root 1 ${root.facts} ${last.signed ? sha256(last.signed.line) : noHash} ${publicKey}\n`;
  const signed: SignedRoot = {
    line,
    endorsed: !last.signed || last.key === publicKey ? null : endorse(publicKey, last.key, before),
    signature: sign(null, Buffer.from(line), key).toString('hex'),
  };
  append(rootsFile, signed);
  return signed;
}

/** Lists the roots of the file of roots that come before one. @throws Error when the file ends with a part of a root */
export function rootsBefore({ number: end }: RootToSign, rootsFile: string): NumberedRoot[] {
  return readRoots(rootsFile).flatMap(({ number, signed }) =>
    signed && number < end ? [{ number, ...signed }] : [],
  );
}

/** After a restore the numbers of roots that may be lost are stepped over. */
function follows(root: RootToSign, last: KnownRoot): boolean {
  return root.epoch > last.epoch
    ? root.number > last.number
    : root.epoch === last.epoch && root.number === last.number + 1;
}

function endorse(publicKey: string, keyBefore: string, before: KeyObject | undefined): string {
  if (!before || publicHexOf(before) !== keyBefore) {
    throw new Error(`The last root was signed by the key ${keyBefore}: give that key as --old-key, once.`);
  }
  return sign(null, Buffer.from(`key ${publicKey}\n`), before).toString('hex');
}

/** Writes a root's lines to the disk before anybody is told of it. */
function append(file: string, root: SignedRoot): void {
  const size = existsSync(file) ? statSync(file).size : 0;
  try {
    writeFileSync(file, linesOfRoot(root), { flag: 'a', mode: 0o644, flush: true });
  } catch (error) {
    // A full disk leaves no half of a root.
    if (existsSync(file)) truncateSync(file, size);
    throw error;
  }
}

interface KnownRoot {
  readonly number: number;
  readonly epoch: number;
  readonly facts: string;
  readonly key: string;
  readonly signed: SignedRoot | undefined;
}

const nothing: KnownRoot = { number: 0, epoch: 1, facts: '', key: '', signed: undefined };

/** A root's lines; docs/proof.md says what stands where. */
const oneRoot =
  /(root 1 ((\d+) (\d+) [\d-]{10} [0-9a-f]{64}) [0-9a-f]{64} ([0-9a-f]{64})\n)(?:endorsed ([0-9a-f]{128})\n)?signature ([0-9a-f]{128})\n/y;

function readRoots(file: string): KnownRoot[] {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const roots: KnownRoot[] = [];
  for (oneRoot.lastIndex = 0; oneRoot.lastIndex < text.length;) {
    const found = oneRoot.exec(text);
    if (!found)
      throw new Error(`${file} does not hold whole roots to its end: docs/proof.md says how to mend it.`);
    const [, line = '', facts = '', number, epoch, key = '', endorsed, signature = ''] = found;
    roots.push({
      ...{ number: Number(number), epoch: Number(epoch), facts, key },
      signed: { line, endorsed: endorsed ?? null, signature },
    });
  }
  return roots;
}
