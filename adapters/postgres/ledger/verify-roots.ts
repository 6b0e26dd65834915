import { createPublicKey, verify } from 'node:crypto';
import type { Database } from '../database.js';
import { noHash, sha256 } from '../../proof/tree.js';
import { buildTree, treeHashOf } from './roots.js';

interface Row {
  readonly number: number;
  readonly epoch: number;
  readonly facts: string;
  /** Null for a root that a restore lost: its tree is lost, too. */
  readonly salt: string | null;
  readonly line: string;
  readonly endorsed: string | null;
  readonly signature: string;
}

type RowWithTree = Row & { readonly salt: string };

/** What is wrong with a root. */
export interface RootFault {
  readonly root: number;
  readonly detail: string;
}

const PAGE = 500;

/** How many of the newest roots are held against the hashes: what is changed once the night looked at one is in the next, too. */
const TREES = 2;

/**
 * Checks all signed roots (decision 140, "Proof of the ledger"): each says what its row does, follows from the one before it,
 * and is signed; the trees of the two newest are what the hashes of all seals come to. Nobody is asked for a root that was kept
 * elsewhere: `gpu verify` does that.
 * @param suspects numbers of older roots whose trees are computed as well
 * @param onPart called after each part of such a tree
 */
export async function verifyRoots(
  db: Database,
  suspects: readonly number[] = [],
  onPart?: (built: number) => void,
): Promise<RootFault[]> {
  const findings: RootFault[] = [];
  const newest: RowWithTree[] = [];
  const older: RowWithTree[] = [];
  let before: Row | undefined;
  for await (const row of signedRoots(db)) {
    findings.push(...faultsOf(row, before).map((detail) => ({ root: row.number, detail })));
    before = row;
    if (row.salt !== null) newest.push({ ...row, salt: row.salt });
    const left = newest.splice(0, newest.length - TREES);
    older.push(...left.filter(({ number }) => suspects.includes(number)));
  }
  for (const row of [...older, ...newest])
    if (!(await hasItsTree(db, row, onPart)))
      findings.push({ root: row.number, detail: 'has another tree than the seals that it covers' });
  return findings;
}

async function* signedRoots(db: Database): AsyncGenerator<Row> {
  for (let page = await readPage(db, 0), last = page.at(-1); last; last = page.at(-1)) {
    yield* page;
    page = await readPage(db, last.number);
  }
}

async function readPage(db: Database, after: number): Promise<Row[]> {
  const { rows } = await db.raw<{ rows: Row[] }>(
    `select number, epoch, root_facts(r) as facts,
            encode(salt, 'hex') as salt, line, endorsed, signature
       from ledger_roots r where number > :after and line is not null
     union all
     select number, split_part(line, ' ', 4)::int, array_to_string((string_to_array(line, ' '))[3:6], ' '), null, line, endorsed,
            signature
       from lost_roots where number > :after
      order by number limit :page`,
    { after, page: PAGE },
  );
  return rows;
}

function faultsOf(row: Row, last: Row | undefined): string[] {
  const { facts, line, endorsed, signature } = row;
  const faults: string[] = [];
  const key = keyOf(line);
  const before = hashBefore(row, last);
  if (before === undefined) faults.push('has no root before it');
  else if (line !== `root 1 ${facts} ${before} ${key}\n`)
    faults.push('says another thing than its row, or does not follow from the root before it');
  if (!isSigned(line, key, signature)) faults.push('is not signed by its key');
  if (last && !mayMiss(row, last) && !isEndorsed(key, keyOf(last.line), endorsed))
    faults.push('has a key that the one before did not endorse');
  return faults;
}

/** The hash that a root must name; undefined where a root is missing. */
function hashBefore(row: Row, last: Row | undefined): string | undefined {
  if (mayMiss(row, last)) return row.line.split(' ')[6];
  if (!isOfNewEpoch(row, last) && row.number !== (last?.number ?? 0) + 1) return undefined;
  return last ? sha256(last.line) : noHash;
}

/** Whether roots may be missing before this one: a restore lost them, and the signer did not read them back. */
function mayMiss(row: Row, last: Row | undefined): boolean {
  return isOfNewEpoch(row, last) && last?.salt !== null;
}

function isOfNewEpoch({ epoch }: Row, last: Row | undefined): boolean {
  return epoch > (last?.epoch ?? 1);
}

function isEndorsed(key: string, keyBefore: string, endorsed: string | null): boolean {
  return key === keyBefore || isSigned(`key ${key}\n`, keyBefore, endorsed ?? '');
}

function keyOf(line: string): string {
  return line.trimEnd().split(' ').at(-1) ?? '';
}

function isSigned(text: string, publicHex: string, signature: string): boolean {
  try {
    const x = Buffer.from(publicHex, 'hex').toString('base64url');
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    return verify(null, Buffer.from(text), key, Buffer.from(signature, 'hex'));
  } catch {
    return false;
  }
}

async function hasItsTree(
  db: Database,
  { number, salt, line }: RowWithTree,
  onPart?: (built: number) => void,
): Promise<boolean> {
  const { nodes, tree } = await buildTree(db, number, salt, onPart);
  const kept = await db('ledger_roots').where({ number }).first('nodes');
  return treeHashOf(line) === tree && kept?.nodes?.toString('hex') === nodes.join('');
}
