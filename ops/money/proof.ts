import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Database } from '../../adapters/postgres/database.js';
import { findProof, linesOfProof } from '../../adapters/postgres/ledger/proof.js';
import { findUnsignedRoot, keepLostRoots, keepSignature } from '../../adapters/postgres/ledger/roots.js';
import { lockBy } from '../../adapters/postgres/locks.js';
import {
  makeKeyFile,
  publicHexOf,
  readKeyFile,
  rootsBefore,
  signRoot,
  type SigningKeys,
} from '../../adapters/proof/signer.js';
import { MINUTE } from '../../domain/durations.js';
import { monthOf } from '../../domain/instants.js';
import { using, type OpsContext } from '../context.js';
import { getUser } from '../people/named-user.js';

interface Signing {
  readonly key: string;
  readonly oldKey?: string;
  readonly roots: string;
  readonly follow?: true;
}

/** How often a signer that follows looks for a root. */
const FOLLOW_MS = MINUTE;

/** `ops ledger key`, `sign` and `proof` (decision 140, "Proof of the ledger"). */
export function addProof(ledger: Command, context: OpsContext): void {
  ledger
    .command('key')
    .description(
      'Makes the key that signs roots, in a file that you alone can read. Keep a copy: no database has it.',
    )
    .argument('<file>', 'a file that is not there yet')
    .action((file: string) => {
      console.log(`The public key is ${publicHexOf(makeKeyFile(file))}.`);
    });
  ledger
    .command('sign')
    .description(
      'Signs the roots that wait, and appends them to a file outside of the database. One process does this.',
    )
    .requiredOption('--key <file>', 'the private key: ops ledger key makes one')
    .requiredOption(
      '--roots <file>',
      'the file of all roots: keep it where nobody writes to both it and the database',
    )
    .option('--old-key <file>', 'the key that signed until now, when you change keys')
    .option('--follow', 'keep running, and check for a new root every minute')
    .action((options: Signing) => using(context, (db) => signAll(db, options)));
  ledger
    .command('proof')
    .description(
      'Writes the proof of a user’s month, as GET /v1/billing/proof does: for those who can’t sign in any more.',
    )
    .requiredOption('--user <who>', 'an email address or usr_…')
    .requiredOption('--month <month>', 'a month that is over (UTC), such as 2026-10')
    .action(({ user, month }: { user: string; month: string }) =>
      using(context, (db) => writeProof(db, user, month)),
    );
}

async function writeProof(db: Database, user: string, month: string): Promise<void> {
  const span = monthOf(month);
  if (!span) throw new Error(`--month takes a month such as 2026-10, not ${month}.`);
  const proof = await findProof(db, (await getUser(db, user)).id, span);
  if (!proof)
    throw new Error(
      `No signed root covers ${month} of ${user} yet: it takes the night after the month’s end.`,
    );
  for await (const part of linesOfProof(db, proof, month)) process.stdout.write(part);
}

async function signAll(db: Database, { key, oldKey, roots, follow }: Signing): Promise<void> {
  const keys: SigningKeys = {
    key: readKeyFile(key),
    before: oldKey === undefined ? undefined : readKeyFile(oldKey),
  };
  for (;;) {
    const number = await signNext(db, keys, roots).catch((error: unknown) => {
      if (!follow) throw error;
      console.error(`Nothing is signed now: ${error instanceof Error ? error.message : String(error)}`);
    });
    if (number !== undefined) console.log(`Root ${number} is signed.`);
    else if (follow) await sleep(FOLLOW_MS);
    else return;
  }
}

/**
 * Signs the oldest root that waits, and reads those back from the file that a restore lost, which the signed one follows.
 * @returns its number; undefined where none does
 */
export async function signNext(
  db: Database,
  keys: SigningKeys,
  rootsFile: string,
): Promise<number | undefined> {
  return db.transaction(async (trx) => {
    await lockBy(trx, 'signer', '');
    const root = await findUnsignedRoot(trx);
    if (!root) return undefined;
    await keepSignature(trx, root.number, signRoot(root, keys, rootsFile));
    await keepLostRoots(trx, rootsBefore(root, rootsFile));
    return root.number;
  });
}
