import { createPrivateKey } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase, type Database } from '../../adapters/postgres/database.js';
import { linesOfProof, type Proof } from '../../adapters/postgres/ledger/proof.js';
import { listRoots, type PublishedRoot } from '../../adapters/postgres/ledger/roots.js';
import { databaseRoles } from '../../migrations/roles.js';
import { signNext } from '../../ops/money/proof.js';
import { urlAs } from '../support/ops/operators.js';
import { keepIdle } from './database.js';
import type { Chance } from './kernel/chance.js';
import { SimProcess, within } from './kernel/scope.js';

/** How often the signer looks for a root, in milliseconds. */
const LOOK_MS = 10 * 60_000;
/** What stands before the 32 bytes of an Ed25519 key in PKCS #8. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

/** A night's root, with the file of each wallet that proves it by that root. */
export interface Night {
  readonly root: number;
  readonly files: readonly string[];
}

/** The process that signs roots as `ops ledger sign` does, and keeps what users may keep of each night. */
export class Signer {
  readonly nights: Night[] = [];
  /** Whether it is at work at the database. */
  isLooking = false;
  readonly #process = new SimProcess('signer', 'api');
  /** As an operator, who reads what users may keep. */
  readonly #db: Database;
  readonly #signing: Database;
  readonly #key;
  readonly #folder = mkdtempSync(path.join(tmpdir(), 'roots-'));

  constructor({ chance, databaseUrl }: { readonly chance: Chance; readonly databaseUrl: string }) {
    const seed = Buffer.from(Array.from({ length: 32 }, () => chance.below(256)));
    this.#key = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' });
    this.#db = within({ process: this.#process }, () =>
      keepIdle(openDatabase(urlAs('ada', databaseUrl), 1, 'ops')),
    );
    this.#signing = within({ process: this.#process }, () =>
      keepIdle(openDatabase(databaseUrl, 1, 'signer', databaseRoles.signer)),
    );
  }

  /** The file of all roots, outside of the database. */
  get #file(): string {
    return path.join(this.#folder, 'roots');
  }

  /** Looks for roots for ever. */
  live(): Promise<never> {
    return within({ process: this.#process }, async () => {
      for (;;) {
        await sleep(LOOK_MS);
        // What fails is done by the next look.
        this.isLooking = true;
        await this.#look().catch(() => undefined);
        this.isLooking = false;
      }
    });
  }

  /** Ends the file of roots. @returns what it held */
  end(): string {
    const roots = readFileSync(this.#file, 'utf8');
    rmSync(this.#folder, { recursive: true });
    return roots;
  }

  async #look(): Promise<void> {
    while ((await signNext(this.#signing, { key: this.#key }, this.#file)) !== undefined);
    for (const root of await listRoots(this.#db, this.nights.at(-1)?.root ?? 0, 100))
      if (root.signedAt !== null) this.nights.push({ root: root.number, files: await this.#filesOf(root) });
  }

  async #filesOf(root: PublishedRoot): Promise<string[]> {
    const { rows } = await this.#db.raw<{ rows: Omit<Proof, 'root'>[] }>(
      `select p.wallet_id as "walletId", p.proof_id as "proofId", p.place,
              array(select last_seq::int from ledger_hashes h
                     where h.wallet_id = p.wallet_id and h.root <= :root order by last_seq) as seals
         from wallet_proof_ids p where p.first_root <= :root order by p.wallet_id`,
      { root: root.number },
    );
    const files: string[] = [];
    for (const wallet of rows) {
      let file = '';
      for await (const part of linesOfProof(this.#db, { ...wallet, root }, monthBefore(root))) file += part;
      files.push(file);
    }
    return files;
  }
}

/** The last month that was over when a root was made. */
function monthBefore({ line }: PublishedRoot): string {
  const [, , , , night = ''] = line.split(' ');
  const month = new Date(`${night.slice(0, 7)}-01T00:00:00Z`);
  month.setUTCMonth(month.getUTCMonth() - 1);
  return month.toISOString().slice(0, 7);
}
