import { createHash, createPublicKey, verify } from 'node:crypto';
import type { Night } from '../nights.js';
import { told, type Evidence } from './evidence.js';

const ZEROS = '0'.repeat(64);
const HASH = '[0-9a-f]{64}';
const SIGNATURE = '[0-9a-f]{128}';
const INTS = String.raw`-?\d+(?: -?\d+)*`;

const headForm = /proof 1 (?<wallet>[0-9a-f]{32}) (?<month>\d{4}-\d\d)\n/y;
const sealForm = new RegExp(
  String.raw`(?<text>seal 1 (?<wallet>[0-9a-f]{32}) (?<epoch>\d+) (?<first>\d+) (?<last>\d+) (?<cents>\d+) (?<instant>\d+) (?<before>${HASH})\n` +
    String.raw`gaps (?<gaps>${INTS})\namounts (?<amounts>${INTS})\nrentals (?<rentals>\S+(?: \S+)*)\n` +
    String.raw`places (?<places>${INTS})\n(?<kept>(?:kept \d+ \S+ \S+ \S+ \S+ \S+\n)*))hash (?<hash>${HASH})\n`,
  'y',
);
const rootForm = new RegExp(
  String.raw`(?<line>root 1 (?<number>\d+) (?<epoch>\d+) (?<night>\d{4}-\d\d-\d\d) (?<tree>${HASH}) (?<before>${HASH}) (?<key>${HASH})\n)` +
    String.raw`(?:endorsed ${SIGNATURE}\n)?signature (?<signature>${SIGNATURE})\n`,
  'y',
);
const pathForm = new RegExp(String.raw`path (?<hashes>${HASH}(?: ${HASH}){63})\n`, 'y');

type Words = Readonly<Record<string, string>>;

interface Seal {
  readonly text: string;
  readonly wallet: string;
  readonly epoch: number;
  readonly first: number;
  readonly last: number;
  readonly cents: number;
  readonly instant: number;
  readonly before: string;
  readonly gaps: readonly number[];
  readonly amounts: readonly number[];
  readonly rentals: readonly string[];
  readonly places: readonly number[];
  readonly kept: readonly string[];
  readonly hash: string;
}

interface Root {
  readonly line: string;
  readonly number: number;
  readonly epoch: number;
  readonly night: string;
  readonly tree: string;
  readonly before: string;
  readonly key: string;
  readonly signature: string;
}

interface File {
  readonly wallet: string;
  readonly month: string;
  readonly seals: readonly Seal[];
  readonly root: Root;
  readonly path: readonly string[];
}

/** An entry of a ledger, as its rows have it. */
interface Entry {
  readonly wallet: string;
  readonly seq: string;
  readonly type: string;
  readonly cents: string;
  readonly balance: string;
  readonly ms: string;
  readonly rental: string | null;
  readonly kept: string;
  readonly note: string | null;
  readonly salt: Buffer | null;
  readonly is_erased: boolean;
}

/**
 * Decision 140 and docs/proof.md: the file of each wallet and night proves by that night's root what the ledger has, and
 * nothing that an earlier file proved is another without a higher epoch.
 */
export async function judgeProof({
  ask,
  nights,
  roots,
}: Pick<Evidence, 'ask'> & { readonly nights: readonly Night[]; readonly roots: string }): Promise<string[]> {
  const entries = await ask<Entry>(
    `select p.proof_id as wallet, e.seq, e.type::text, e.amount_cents as cents, e.balance_after_cents as balance,
            round(extract(epoch from e.created_at) * 1000) as ms, r.id as rental,
            concat_ws(' ', 'kept', e.seq, e.type, coalesce(r.id, '-'), coalesce(e.processor_charge_id, '-'),
                      coalesce(c.cause, '-')) as kept, k.note, n.salt, a.erased_at is not null as is_erased
       from seen_entries e
       join wallet_proof_ids p on p.wallet_id = e.wallet_id
       join wallets w on w.id = e.wallet_id
       left join account_closings a on a.user_id = w.user_id
       left join rentals r on r.no = e.rental_no
       left join ledger_entries k on k.wallet_id = e.wallet_id and k.seq = e.seq and k.type <> 'rental_charge'
       left join ledger_causes c on c.wallet_id = e.wallet_id and c.seq = e.seq
       left join ledger_note_salts n on n.wallet_id = e.wallet_id and n.seq = e.seq
      order by e.wallet_id, e.seq`,
  );
  const walks = await ask<{ number: number; night: string; before: Record<string, number> | null }>(
    `select number, to_char(made_at at time zone 'UTC', 'YYYY-MM-DD') as night,
            (select jsonb_object_agg(proof_id, last) from (
               select p.proof_id, max(e.seq) as last from seen_entries e join wallet_proof_ids p on p.wallet_id = e.wallet_id
                where e.created_at < r.walk_began_at - interval '5 minutes' group by p.proof_id) earlier) as before
       from ledger_roots r order by number`,
  );
  const published = await ask<{ number: number; line: string }>(
    `select number, line from ledger_roots where line is not null union all select number, line from lost_roots order by number`,
  );
  const files = nights.flatMap((night) => night.files.map((text) => read(text)));
  const kept = readRoots(roots);
  const newest = new Map(files.map((file) => [file.wallet, file]));
  const lines = new Set(kept.map(({ line }) => line));
  const [before, last] = kept.slice(-2);
  return [
    ...judgeRoots(kept),
    ...told(
      published.map(({ line }) => line).join('') !== kept.map(({ line }) => line).join(''),
      `the service publishes the roots ${published.map(({ number }) => number).join(' ')}, the signer's file has other ones`,
    ),
    ...told(last?.epoch === before?.epoch, 'the root after the restore is of no new epoch'),
    ...files.flatMap((file) => [
      ...judgeFile(file).map((fault) => nameOf(file) + fault),
      ...told(!lines.has(file.root.line), `${nameOf(file)}its root is not among those that were kept`),
    ]),
    ...[...newest.values()].flatMap((file) => [
      ...judgeContents(
        file,
        entries.filter(({ wallet }) => wallet === file.wallet),
      ).map((fault) => nameOf(file) + fault),
      ...walks
        .filter(({ number }) => number === file.root.number)
        .flatMap(({ night, before }) => [
          ...told(night !== file.root.night, `${nameOf(file)}it was made in the night ${night}`),
          ...told(lastOf(file) < (before?.[file.wallet] ?? 0), `${nameOf(file)}it leaves out older entries`),
        ]),
    ]),
    ...files.flatMap((file, index) =>
      files
        .slice(index + 1)
        .filter(({ wallet }) => wallet === file.wallet)
        .flatMap((later) => judgeTwo(file, later)),
    ),
  ];
}

function nameOf({ wallet, root }: File): string {
  return `the proof of ${wallet} by root ${root.number}: `;
}

/** Reads a file. @throws Error when it has not the form that docs/proof.md gives */
function read(text: string): File {
  const reading = new Reading(text);
  const { wallet, month } = reading.take(headForm) as { wallet: string; month: string };
  const seals: Seal[] = [];
  while (reading.begins('seal ')) seals.push(sealOf(reading.take(sealForm)));
  const root = rootOf(reading.take(rootForm));
  const { hashes } = reading.take(pathForm) as { hashes: string };
  reading.end();
  return { wallet, month, seals, root, path: hashes.split(' ') };
}

/** Reads the file of roots. @throws Error when it has not its form */
function readRoots(text: string): Root[] {
  const reading = new Reading(text);
  const roots: Root[] = [];
  while (reading.begins('root ')) roots.push(rootOf(reading.take(rootForm)));
  reading.end();
  return roots;
}

/** Takes what has a form from the front of a text. */
class Reading {
  #at = 0;

  constructor(private readonly text: string) {}

  begins(word: string): boolean {
    return this.text.startsWith(word, this.#at);
  }

  /** @throws Error when the text goes on otherwise */
  take(form: RegExp): Words {
    form.lastIndex = this.#at;
    const found = form.exec(this.text);
    if (!found)
      throw new Error(`it should go on as ${form.source}: ${this.text.slice(this.#at, this.#at + 500)}`);
    this.#at = form.lastIndex;
    return found.groups as Words;
  }

  /** @throws Error when anything is left */
  end(): void {
    if (this.#at < this.text.length) throw new Error(`something is left: ${this.text.slice(this.#at)}`);
  }
}

function sealOf(words: Words): Seal {
  const { text, wallet, before, hash, rentals, kept } = words as Words &
    Pick<Seal, 'text' | 'wallet' | 'before' | 'hash'> & { rentals: string; kept: string };
  const number = (name: string): number => Number(words[name]);
  const numbers = (name: string): number[] => String(words[name]).split(' ').map(Number);
  return {
    ...{ text, wallet, before, hash, epoch: number('epoch'), first: number('first'), last: number('last') },
    ...{ cents: number('cents'), instant: number('instant'), gaps: numbers('gaps') },
    ...{ amounts: numbers('amounts'), places: numbers('places') },
    rentals: rentals === '-' ? [] : rentals.split(' '),
    kept: kept.split('\n').slice(0, -1),
  };
}

function rootOf(words: Words): Root {
  return { ...(words as unknown as Root), number: Number(words['number']), epoch: Number(words['epoch']) };
}

function judgeRoots(roots: readonly Root[]): string[] {
  return roots.flatMap((root, index) => {
    const last = roots[index - 1] ?? { number: 0, epoch: 1, line: undefined };
    const isRestored = root.epoch > last.epoch && root.number > last.number;
    return [
      ...told(!isSigned(root), 'it is not signed by its key'),
      ...told(root.before !== hashOf(last), 'it does not hold the hash of the one before'),
      ...told(root.epoch < last.epoch, 'its epoch falls'),
      ...told(root.number !== last.number + 1 && !isRestored, 'it does not follow the one before'),
    ].map((fault) => `root ${root.number}: ${fault}`);
  });
}

function hashOf({ line }: { readonly line: string | undefined }): string {
  return line === undefined ? ZEROS : sha256(line);
}

/** Points 1 to 4 of docs/proof.md. */
function judgeFile({ wallet, month, seals, root, path }: File): string[] {
  const { last, hash, epoch } = seals.at(-1) ?? nothing;
  let leaf = sha256(`leaf ${wallet} ${last} ${hash}\n`);
  const place = BigInt(`0x${sha256(`place ${wallet}\n`).slice(0, 16)}`);
  for (const [bit, other] of path.entries())
    leaf = sha256((place >> BigInt(bit)) & 1n ? `node ${other} ${leaf}\n` : `node ${leaf} ${other}\n`);
  return [
    ...seals.flatMap((seal, index) => judgeSeal(seal, seals[index - 1] ?? nothing)),
    ...told(
      seals.some((seal) => seal.wallet !== wallet),
      'a seal is of another wallet',
    ),
    ...told(leaf !== root.tree, 'the path leads to another tree'),
    ...told(root.epoch < epoch, 'its root has a lower epoch'),
    ...told(root.night.slice(0, 7) <= month, 'its root was made before the month was over'),
  ];
}

/** What stands before the first seal. */
const nothing = { last: 0, hash: ZEROS, epoch: 1, cents: 0, amounts: [] as readonly number[] };

function judgeSeal(seal: Seal, last: typeof nothing): string[] {
  const cents = last.amounts.reduce((sum, amount) => sum + amount, last.cents);
  return [
    ...told(seal.first !== last.last + 1, 'begins elsewhere'),
    ...told(seal.before !== last.hash, 'holds another hash before it'),
    ...told(seal.cents !== cents, 'begins with another balance'),
    ...told(seal.epoch < last.epoch, 'has a lower epoch'),
    ...told(seal.hash !== sha256(seal.text), 'has not the hash that it says'),
  ].map((fault) => `seal ${seal.first}-${seal.last} ${fault}`);
}

/** What the seals say is what the ledger has, entry by entry. */
function judgeContents({ seals }: File, entries: readonly Entry[]): string[] {
  return seals.flatMap((seal) => {
    let { cents, instant } = seal;
    const kept = [...seal.kept];
    return seal.amounts.flatMap((amount, index) => {
      const seq = seal.first + index;
      const place = seal.places[index] ?? 0;
      cents += amount;
      instant += seal.gaps[index] ?? 0;
      const said = `${amount} ${cents} ${instant} ${place > 0 ? String(seal.rentals[place - 1]) : String(kept.shift())}`;
      const has = wordsOf(entries[seq - 1]);
      return told(
        said !== has && !isErased(said, has, entries[seq - 1]),
        `entry ${seq} says ${said}, and is ${has}`,
      );
    });
  });
}

/** Of a note that was erased with its person, files go on saying the hash (docs/proof.md). */
function isErased(said: string, has: string, entry: Entry | undefined): boolean {
  return entry?.is_erased === true && said.replace(/ [0-9a-f]{64}$/, ' -') === has;
}

function wordsOf(entry: Entry | undefined): string {
  if (entry === undefined) return 'not there';
  const { type, cents, balance, ms, rental, kept, note, salt } = entry;
  const hash = note === null ? '-' : sha256(Buffer.concat([salt ?? Buffer.alloc(0), Buffer.from(note)]));
  return `${cents} ${balance} ${Number(ms)} ${type === 'rental_charge' ? String(rental) : `${kept} ${hash}`}`;
}

/** Point 6: what two files of a wallet share is the same, and the later one covers no less, unless its epoch is higher. */
function judgeTwo(file: File, later: File): string[] {
  if (later.root.epoch > file.root.epoch) return [];
  const isOther = file.seals.some(({ hash }, index) => hash !== later.seals[index]?.hash);
  return told(isOther, `${nameOf(later)}it contradicts the one by root ${file.root.number}`);
}

function lastOf({ seals }: File): number {
  return seals.at(-1)?.last ?? 0;
}

function isSigned({ line, key, signature }: Root): boolean {
  const x = Buffer.from(key, 'hex').toString('base64url');
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  return verify(null, Buffer.from(line), publicKey, Buffer.from(signature, 'hex'));
}

function sha256(bytes: string | Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
