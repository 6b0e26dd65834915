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
    .description('The operators’ own logins, by which the database knows who moves money.')
    .addHelpText(
      'after',
      `
Making and removing one takes the owner of the database: the DATABASE_URL of the migrations.
Examples:
  ops login add ada        tells the password, once
  ops login list`,
    );
  readable(login.command('list', { isDefault: true }))
    .description('Lists them.')
    .action(({ json }: Print) =>
      asOwner(context, async (db) => printRows(await listOperatorLogins(db), json, (name) => name)),
    );
  readable(login.command('add').argument('<name>', 'a to z, 0 to 9 and _'))
    .description('Makes one, or gives it another password, which is told once.')
    .action((name: string, { json }: Print) =>
      asOwner(context, async (db) => {
        const password = randomBytes(24).toString('base64url');
        const made = await ensureOperatorLogin(db, name, password);
        const told = { login: made, password };
        console.log(
          json === true
            ? JSON.stringify(told)
            : `${made} may log in, with this password, which is told once:\n  ${password}\n\n${name} works with\n  DATABASE_URL=postgres://${made}:<password>@<host>:<port>/<database>\nand without DATABASE_ROLE.`,
        );
      }),
    );
  login
    .command('remove')
    .argument('<name>', 'as it was added')
    .description('Removes one. What was done with it keeps its name.')
    .action((name: string) =>
      asOwner(context, async (db) => {
        const gone = `operator_${name}`;
        const known = await listOperatorLogins(db);
        if (!isOperatorLogin(gone) || !known.includes(gone)) {
          throw new Error(`There is no login ${gone}: see ops login list.`);
        }
        await dropOperatorLogin(db, gone);
        console.log(`${gone} may log in no more.`);
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
      'This login may not make logins: run it with the DATABASE_URL of the database’s owner, which the migrations use.',
      { cause: error },
    );
  } finally {
    await db.destroy();
  }
}
