import type { Database, Transaction } from '../database.js';
import type { LedgerRootRow } from '../rows/tables.js';
import { groupedBy } from '../../../domain/grouped.js';
import type { NumberedRoot, RootToSign, SignedRoot } from '../../proof/signer.js';
import {
  keptIndexOf,
  keptNodeOf,
  keptNodes,
  levelsOf,
  noHash,
  topOf,
  treeOf,
  type Leaf,
  type Levels,
} from '../../proof/tree.js';

/** How many wallets are named by one statement. */
const NAMED_AT_ONCE = 10_000;

/**
 * Begins the root that covers all seals of now (decision 140, "Proof of the ledger"), once for each day's walk.
 * @returns its number; null where the walk has its root
 */
export async function beginRoot(db: Database): Promise<number | null> {
  let named: number | null = 0;
  while (named !== null) named = await nameWallets(db, named);
  const { rows } = await db.raw<{ rows: { number: number | null }[] }>('select begin_root() as number');
  return rows[0]?.number ?? null;
}

/** Names some wallets that have no proof id yet. @returns the last one that was looked at; null: there are no more */
async function nameWallets(db: Database, above: number): Promise<number | null> {
  const { rows } = await db.raw<{ rows: { last: number | null }[] }>(
    'select name_wallets(:above, :most) as last',
    {
      above,
      most: NAMED_AT_ONCE,
    },
  );
  return rows[0]?.last ?? null;
}

/** Whether the last day's walk that ended has no root yet. */
export async function isRootDue(db: Database): Promise<boolean> {
  const { rows } = await db.raw<{ rows: unknown[] }>(
    `select 1 from ledger_sealing s
      where s.is_on and s.daily_at is not null
        and not exists (select 1 from ledger_roots r where r.walk_began_at = s.daily_at)`,
  );
  return rows.length > 0;
}

/**
 * Begins another epoch: this database was restored, and entries that were proven may be gone. Epochs count minutes since
 * 2020, so that none comes twice, however often the same backup is restored.
 */
export async function beginEpoch(trx: Transaction): Promise<void> {
  await trx('ledger_sealing').update({
    epoch: trx.raw(
      `greatest(epoch + 1, (epoch_ms(clock_ms()) - epoch_ms('2020-01-01 00:00:00+00')) / 60000)`,
    ),
  });
}

/** Lists roots whose tree was not built yet. */
export async function listUnbuiltRoots(db: Database): Promise<Pick<LedgerRootRow, 'number' | 'salt'>[]> {
  return db('ledger_roots').whereNull('tree').orderBy('number').select('number', 'salt');
}

/** Keeps a root's tree. @param nodes hashes of its kept nodes, left to right */
export async function keepTree(
  db: Database,
  number: number,
  nodes: readonly string[],
  tree: string,
): Promise<void> {
  await db('ledger_roots')
    .where({ number })
    .whereNull('tree')
    .update({ nodes: Buffer.from(nodes.join(''), 'hex'), tree: Buffer.from(tree, 'hex') });
}

/**
 * Reads the leaves of a root below some of its kept nodes, in the order of their places.
 * @param first the number of the leftmost of these nodes
 */
export async function readLeaves(
  db: Database,
  root: number,
  { first, last }: { readonly first: number; readonly last: number },
): Promise<Leaf[]> {
  const edge = (index: number): string => index.toString(16).padStart(3, '0');
  const { rows } = await db.raw<{ rows: Leaf[] }>(
    `select p.place, p.proof_id as "proofId", coalesce(h.last_seq, 0) as "lastSeq", coalesce(encode(h.hash, 'hex'), :noHash) as hash
       from wallet_proof_ids p
       left join lateral (
         select last_seq, hash from ledger_hashes h
          where h.wallet_id = p.wallet_id and h.root <= :root order by last_seq desc limit 1) h on true
      where p.place >= :from and p.place <= :to and p.first_root <= :root
      order by p.place`,
    { root, noHash, from: edge(first).padEnd(16, '0'), to: edge(last).padEnd(16, 'f') },
  );
  return rows;
}

/** How many kept nodes are computed from one read. */
const PART = 64;

/**
 * Computes a root's tree from the hashes of the seals that it covers.
 * @param onPart called after each part, with the number of nodes so far
 */
export async function buildTree(
  db: Database,
  root: number,
  salt: string,
  onPart: (built: number) => void = () => undefined,
): Promise<{ readonly nodes: readonly string[]; readonly tree: string }> {
  const nodes: string[] = [];
  for (let first = 0; first < keptNodes; first += PART) {
    const leaves = groupedBy(await readLeaves(db, root, { first, last: first + PART - 1 }), ({ place }) =>
      keptIndexOf(place),
    );
    for (let index = first; index < first + PART; index += 1) {
      const below = leaves.get(index) ?? [];
      nodes.push(keptNodeOf(index, below, salt));
      // A million wallets take minutes, and others are served meanwhile.
      if (below.length > 0) await new Promise((resolve) => setImmediate(resolve));
    }
    onPart(nodes.length);
  }
  return { nodes, tree: treeOf(nodes) };
}

/** A root's tree, as far as all paths share it. */
export interface Tree {
  readonly levels: Levels;
  /** What the hashes of empty places derive from. */
  readonly salt: string;
}

/** How many trees are remembered, of a megabyte each: users ask for the month that ended, so for one root. */
const TREES = 4;
/** Those that were asked for last, by their hash: another tree has another one. The newest comes last. */
const trees = new Map<string, Tree>();

/** Reads a signed root's tree, unless it is remembered: 4,095 hashes are computed from its kept nodes. */
export async function readTree(
  db: Database,
  { number, line }: Pick<PublishedRoot, 'number' | 'line'>,
): Promise<Tree> {
  const hash = treeHashOf(line);
  const tree = trees.get(hash) ?? (await computeTree(db, number));
  trees.delete(hash);
  // One that was changed by hand is not remembered: it may be mended.
  if (topOf(tree.levels) === hash) trees.set(hash, tree);
  for (const [oldest] of trees) if (trees.size > TREES) trees.delete(oldest);
  return tree;
}

async function computeTree(db: Database, number: number): Promise<Tree> {
  const row = await db('ledger_roots').where({ number }).first('nodes', 'salt');
  if (!row?.nodes) throw new Error(`root ${number} has no tree`);
  const hex = row.nodes.toString('hex');
  const nodes = Array.from({ length: keptNodes }, (_, no) => hex.slice(64 * no, 64 * (no + 1)));
  return { levels: levelsOf(nodes), salt: row.salt.toString('hex') };
}

/** The hash of the tree that a signed line names. */
export function treeHashOf(line: string): string {
  return line.split(' ')[5] ?? '';
}

/** A root as it is published. */
export interface PublishedRoot extends SignedRoot {
  readonly number: number;
  /** Null for one that a restore lost. */
  readonly signedAt: Date | null;
}

/** Lists signed roots after a number, oldest first; those that a restore lost are among them. */
export async function listRoots(db: Database, after: number, limit: number): Promise<PublishedRoot[]> {
  const { rows } = await db.raw<{ rows: PublishedRoot[] }>(
    `select number, line, endorsed, signature, signed_at as "signedAt"
       from ledger_roots where number > :after::bigint and line is not null
     union all
     select number, line, endorsed, signature, null from lost_roots where number > :after::bigint
      order by number limit :limit`,
    { after, limit },
  );
  return rows;
}

/** Keeps those of the file's roots that this database has lost. */
export async function keepLostRoots(db: Transaction, signed: readonly NumberedRoot[]): Promise<void> {
  await db.raw(
    `insert into lost_roots (number, line, endorsed, signature)
     select f.number, f.line, f.endorsed, f.signature
       from jsonb_to_recordset(:signed::jsonb) f (number int, line text, endorsed text, signature text)
      where not exists (select 1 from ledger_roots r where r.number = f.number)
     on conflict (number) do nothing`,
    { signed: JSON.stringify(signed) },
  );
}

/** Finds the oldest root that has its tree and no signature. */
export async function findUnsignedRoot(db: Transaction): Promise<RootToSign | undefined> {
  const { rows } = await db.raw<{ rows: RootToSign[] }>(
    `select r.number, r.epoch, root_facts(r) as facts, signed.line as "lineBefore"
       from ledger_roots r left join lateral (
         (select number, line from ledger_roots where number < r.number and line is not null order by number desc limit 1)
         union all
         (select number, line from lost_roots where number < r.number order by number desc limit 1)
          order by number desc limit 1) signed on true
      where r.line is null and r.tree is not null order by r.number limit 1`,
  );
  return rows[0];
}

/**
 * Keeps a root's signature.
 * @throws Error when another signer signed it in other words
 */
export async function keepSignature(db: Transaction, number: number, signed: SignedRoot): Promise<void> {
  const kept = await db('ledger_roots')
    .where({ number })
    .whereNull('line')
    .update({ ...signed, signed_at: db.raw('clock_ms()') });
  if (kept === 0 && (await db('ledger_roots').where({ number }).first('line'))?.line !== signed.line)
    throw new Error(`Root ${number} was signed by another process, in other words. One process signs.`);
}
