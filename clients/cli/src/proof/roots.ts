import { createPublicKey, verify } from 'node:crypto';
import { noHash } from './fields.js';
import { readLines, type Reading } from './lines.js';
import { readRoot, type Root } from './parse.js';

/** A list of roots that contradicts itself. */
export class BrokenRoots extends Error {
  override readonly name = 'BrokenRoots';

  constructor(
    readonly line: number,
    why: string,
  ) {
    super(`Line ${line}: ${why}`);
  }
}

/**
 * Reads a list of roots, and checks each: its signature, and that it follows the ones before it. Numbers may be left
 * out: a list of roots that were kept from time to time has gaps.
 * @throws Malformed or BrokenRoots
 */
export async function readRoots(file: string, signal: AbortSignal): Promise<Root[]> {
  return readLines(file, listOfRoots(), signal);
}

function* listOfRoots(): Reading<Root[]> {
  const roots: Root[] = [];
  for (let line = yield; !line.isEnd; line = yield) {
    const root = yield* readRoot(line);
    const why = faultOf(root) ?? faultAfter(roots.at(-1), root);
    if (why !== undefined) throw new BrokenRoots(root.line, why);
    roots.push(root);
  }
  return roots;
}

function faultAfter(before: Root | undefined, root: Root): string | undefined {
  if (before === undefined) return undefined;
  if (root.number <= before.number) return `Root ${root.number} comes after root ${before.number}.`;
  return contradiction(before, root, 'before it');
}

/** The lines of a root, as a list holds them. */
export function textOf({ text, endorsed, signature }: Root): string {
  return `${text}${endorsed === undefined ? '' : `endorsed ${endorsed}\n`}signature ${signature}\n`;
}

/** What is wrong with a root by itself. */
export function faultOf({
  number,
  epoch,
  hashBefore,
  endorsed,
  key,
  text,
  signature,
}: Root): string | undefined {
  if (!isSigned(key, text, signature)) return `Root ${number} does not have the signature of its key.`;
  if (number === 1 && hashBefore !== noHash) return 'Root 1 names a root before it.';
  // The first root of all may come after a restore.
  if (number > 1 && epoch === 1 && hashBefore === noHash)
    return `Root ${number} does not name the root before it.`;
  return number === 1 && endorsed !== undefined ? 'Root 1 is endorsed by a root before it.' : undefined;
}

/** Whether a root was made when a month was over. @param month such as 2026-10 */
export function isMadeAfter({ night }: Root, month: string): boolean {
  return night.slice(0, 7) > month;
}

/**
 * How a root can't be, given another one.
 * @param whose tells the other one apart: "you kept"
 */
export function contradiction(other: Root, root: Root, whose: string): string | undefined {
  if (other.number === root.number) return whyNotSame(other, root, whose);
  const [earlier, later] = other.number < root.number ? [other, root] : [root, other];
  const name = (each: Root): string =>
    each === other ? `root ${each.number} ${whose}` : `root ${each.number}`;
  if (later.epoch < earlier.epoch) return `The epoch falls from ${name(earlier)} to ${name(later)}.`;
  if (later.number !== earlier.number + 1) return undefined;
  if (later.hashBefore !== earlier.hash) return `${capital(name(later))} does not follow ${name(earlier)}.`;
  return whyNotEndorsed(earlier, later, name);
}

function whyNotSame(other: Root, root: Root, whose: string): string | undefined {
  if (other.hash !== root.hash) return `Root ${root.number} is not the one ${whose}.`;
  // The signature is judged by itself; this one can be judged by the root before it alone.
  return other.endorsed === root.endorsed
    ? undefined
    : `The endorsement of root ${root.number} is not that of the one ${whose}.`;
}

function whyNotEndorsed(earlier: Root, later: Root, name: (root: Root) => string): string | undefined {
  const { key, endorsed } = later;
  if (key === earlier.key) {
    return endorsed === undefined
      ? undefined
      : `${capital(name(later))} is endorsed, though ${name(earlier)} has the same key.`;
  }
  if (endorsed !== undefined && isSigned(earlier.key, `key ${key}\n`, endorsed)) return undefined;
  return `${capital(name(later))} has a new key, which the key of ${name(earlier)} did not endorse.`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function isSigned(key: string, text: string, signature: string): boolean {
  try {
    const x = Buffer.from(key, 'hex').toString('base64url');
    const publicKey = createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x } });
    return verify(null, Buffer.from(text), publicKey, Buffer.from(signature, 'hex'));
  } catch {
    // Some 32 bytes are not a key.
    return false;
  }
}
