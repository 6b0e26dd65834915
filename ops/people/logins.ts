import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import type { Database } from '../../adapters/postgres/database.js';
import {
  dropOperatorLogin,
  ensureOperatorLogin,
  isOperatorLogin,
  listOperatorLogins,
} from '../../migrations/logins.js';
import { sqlStateOf } from '../../adapters/postgres/sql-state.js';
import type { OpsContext } from '../context.js';
import { printRows, readable, type Print } from '../output.js';

/**
 * `ops login …`: one login of the database for each operator, by which it knows who acts (decision 87, "Operator
 * orders").
 */
export function addLoginCommands(program: Command, context: OpsContext): void {
  const login = program
    .command('login')
    .alias('logins')
    .description('The operators’ own logins, which tell the database who moves money.')
    .addHelpText(
      'after',
      `
To create or remove one, use the database owner’s login: the DATABASE_URL of the migrations.
Examples:
  ops login add ada        shows the password, once
  ops login list`,
    );
  readable(login.command('list', { isDefault: true }))
    .description('Lists them.')
    .action(({ json }: Print) =>
      asOwner(context, async (db) => printRows(await listOperatorLogins(db), json, (name) => name)),
    );
  readable(login.command('add').argument('<name>', 'a to z, 0 to 9 and _'))
    .description('Creates one, or gives it a new password, which is shown once.')
    .action((name: string, { json }: Print) =>
      asOwner(context, async (db) => {
        const password = randomBytes(24).toString('base64url');
        const made = await ensureOperatorLogin(db, name, password);
        const told = { login: made, password };
        console.log(
          json === true
            ? JSON.stringify(told)
            : `${made} can log in with this password, which is shown only once:\n  ${password}\n\n${name} works with\n  DATABASE_URL=postgres://${made}:<password>@<host>:<port>/<database>\nand without DATABASE_ROLE.`,
        );
      }),
    );
  login
    .command('remove')
    .argument('<name>', 'as it was added')
    .description('Removes one. Its past actions keep its name.')
    .action((name: string) =>
      asOwner(context, async (db) => {
        const gone = `operator_${name}`;
        const known = await listOperatorLogins(db);
        if (!isOperatorLogin(gone) || !known.includes(gone)) {
          throw new Error(`There is no login ${gone}: see ops login list.`);
        }
        await dropOperatorLogin(db, gone);
        console.log(`${gone} can no longer log in.`);
      }),
    );
}

async function asOwner(context: OpsContext, work: (db: Database) => Promise<void>): Promise<void> {
  const db = context.openAsOwner();
  try {
    await work(db);
  } catch (error) {
    if (sqlStateOf(error) !== '42501') throw error;
    throw new Error(
      'This login can’t create logins. Use the DATABASE_URL of the database’s owner, as the migrations do.',
      { cause: error },
    );
  } finally {
    await db.destroy();
  }
}
