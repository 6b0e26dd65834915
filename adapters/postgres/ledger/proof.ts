import type { UserId } from '../../../domain/ids.js';
import { linesOfRoot } from '../../proof/signer.js';
import { keptIndexOf, pathOf } from '../../proof/tree.js';
import type { Database } from '../database.js';
import { readLeaves, readTree, type PublishedRoot } from './roots.js';
import { findStretch } from './statement-reads.js';

/** What a proof of a month consists of. */
export interface Proof {
  readonly walletId: number;
  readonly proofId: string;
  /** Of its leaf: 16 hexadecimal digits. */
  readonly place: string;
  /** The last numbers of its seals, oldest first. */
  readonly seals: readonly number[];
  readonly root: PublishedRoot;
}

/**
 * Finds the proof of a user's month (decision 140, "Proof of the ledger"): the seals from the one that holds the last entry
 * before the month, up to the one that the first root after the month covers.
 * @returns undefined where no signed root covers the month's last entry yet, or seals of it were taken back
 */
export async function findProof(
  db: Database,
  userId: UserId,
  month: { from: Date; to: Date },
): Promise<Proof | undefined> {
  const { walletId, fromSeq, toSeq } = await findStretch(db, userId, month.from, month.to);
  const { rows } = await db.raw<{
    rows: (PublishedRoot & Pick<Proof, 'proofId' | 'place'> & { covered: number })[];
  }>(
    `select r.number, r.line, r.endorsed, r.signature, r.signed_at as "signedAt", p.proof_id as "proofId", p.place,
            coalesce(h.last_seq, 0) as covered
       from wallet_proof_ids p
       join ledger_roots r on r.number >= p.first_root and r.line is not null and r.made_at >= :to
       left join lateral (
         select last_seq from ledger_hashes h
          where h.wallet_id = p.wallet_id and h.root <= r.number order by last_seq desc limit 1) h on true
      where p.wallet_id = :walletId and coalesce(h.last_seq, 0) >= :toSeq::bigint - 1
      order by r.number limit 1`,
    { walletId, to: month.to, toSeq },
  );
  const [found] = rows;
  if (!found) return undefined;
  const { proofId, place, covered, ...root } = found;
  const hashes = await db('ledger_hashes')
    .where({ wallet_id: walletId })
    .where('last_seq', '>=', Math.max(1, fromSeq - 1))
    .where('last_seq', '<=', covered)
    .orderBy('last_seq')
    .select('last_seq');
  const seals = hashes.map(({ last_seq: lastSeq }) => lastSeq);
  if (!(await areSealed(db, walletId, seals))) return undefined;
  return { walletId, proofId, place, seals, root };
}

/** Whether these seals are there: they may have been taken back. */
async function areSealed(db: Database, walletId: number, seals: readonly number[]): Promise<boolean> {
  const last = seals.at(-1);
  if (last === undefined) return true;
  return (
    (await db('ledger_seals').where({ wallet_id: walletId, last_seq: last }).first('last_seq')) !== undefined
  );
}

/**
 * Writes a proof's file, seal by seal.
 * @param month such as 2026-10
 * @param inTurn reads a part when its turn has come
 */
export async function* linesOfProof(
  db: Database,
  proof: Proof,
  month: string,
  inTurn: (read: () => Promise<string>) => Promise<string> = (read) => read(),
): AsyncGenerator<string> {
  yield `proof 1 ${proof.proofId} ${month}\n`;
  for (const lastSeq of proof.seals) yield await inTurn(() => readSealLines(db, proof.walletId, lastSeq));
  yield await inTurn(() => readRootLines(db, proof));
}

/** Reads a seal as its proof tells it, with its hash. */
async function readSealLines(db: Database, walletId: number, lastSeq: number): Promise<string> {
  const { rows } = await db.raw<{ rows: { text: string; hash: string }[] }>(
    `select seal_text(s, h.epoch) as text, encode(h.hash, 'hex') as hash
       from ledger_seals s
       join ledger_hashes h on h.wallet_id = s.wallet_id and h.last_seq = s.last_seq
      where s.wallet_id = :walletId and s.last_seq = :lastSeq`,
    { walletId, lastSeq },
  );
  const [row] = rows;
  if (!row) throw new Error(`the seal that ends with ${lastSeq} is gone`);
  return `${row.text}hash ${row.hash}\n`;
}

/** Reads the lines of a proof's root, with the path to it. */
async function readRootLines(db: Database, { proofId, place, root }: Proof): Promise<string> {
  const index = keptIndexOf(place);
  const leaves = await readLeaves(db, root.number, { first: index, last: index });
  const leaf = leaves.find((each) => each.proofId === proofId);
  if (!leaf) throw new Error(`root ${root.number} has no leaf of ${proofId}`);
  const { levels, salt } = await readTree(db, root);
  return `${linesOfRoot(root)}path ${pathOf(leaf, leaves, levels, salt).join(' ')}\n`;
}
