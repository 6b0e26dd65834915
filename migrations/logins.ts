import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import knexFactory, { type Knex } from 'knex';
import { primaryOf } from '../adapters/postgres/address.js';
import { databaseRoles, type DatabaseRole } from './roles.js';

/** The password of each process's login; null: this installation has no such login, or somebody else makes it. */
export type LoginPasswords = Readonly<Record<DatabaseRole, string | null>>;

/** The login of a process that does not work as its role by DATABASE_ROLE. */
export function loginOf(role: DatabaseRole): `${(typeof databaseRoles)[DatabaseRole]}_login` {
  return `${databaseRoles[role]}_login`;
}

/**
 * Makes the logins of the processes, each a member of its role and of nothing else, and sets these passwords. Another
 * run with another password changes it.
 * @returns the logins whose passwords were set
 * @throws Error when the URL's user may not make roles, or may not hand on the roles of another owner's migration
 */
export async function ensureLogins(databaseUrl: string, passwords: LoginPasswords): Promise<string[]> {
  const knex = knexFactory({
    client: 'pg',
    connection: { ...(await primaryOf(databaseUrl)) },
    pool: { min: 0, max: 1 },
  });
  try {
    const made: string[] = [];
    for (const role of Object.keys(databaseRoles) as DatabaseRole[]) {
      const password = passwords[role];
      if (password === null) continue;
      await ensureLogin(knex, role, password);
      made.push(loginOf(role));
    }
    return made;
  } finally {
    await knex.destroy();
  }
}

/** The login of an operator; the database takes the operator's name from it (decision 87, "Operator orders"). */
export type OperatorLogin = `operator_${string}`;

/** Tells whether a login is one operator's own. */
export function isOperatorLogin(login: string): login is OperatorLogin {
  return login.startsWith('operator_');
}

/** Names that become part of a login: short, and never in need of quoting. */
export const operatorNames = /^[a-z][a-z0-9_]{0,30}$/;

/**
 * Makes an operator's login, a member of the operators' role alone, or gives it another password.
 * @throws Error when the connection's user may not make roles: it takes the owner of the database
 */
export async function ensureOperatorLogin(
  knex: Knex,
  name: string,
  password: string,
): Promise<OperatorLogin> {
  if (!operatorNames.test(name)) throw new Error(`${name} is no name for a login: a to z, 0 to 9 and _`);
  const login: OperatorLogin = `operator_${name}`;
  await setLogin(knex, login, 'ops', password);
  return login;
}

/** The logins of operators, by name. */
export async function listOperatorLogins(knex: Knex): Promise<OperatorLogin[]> {
  const { rows } = await knex.raw<{ rows: { name: OperatorLogin }[] }>(
    `select r.rolname as name from pg_roles r join pg_auth_members m on m.member = r.oid
      where m.roleid = ?::regrole and r.rolname like 'operator\\_%' and r.rolcanlogin order by 1`,
    [databaseRoles.ops],
  );
  return rows.map(({ name }) => name);
}

/** Removes an operator's login. Their name stays with what they did. */
export async function dropOperatorLogin(knex: Knex, login: OperatorLogin): Promise<void> {
  await knex.raw('drop role ??', [login]);
}

async function ensureLogin(knex: Knex, role: DatabaseRole, password: string): Promise<void> {
  await setLogin(knex, loginOf(role), role, password);
}

async function setLogin(knex: Knex, login: string, role: DatabaseRole, password: string): Promise<void> {
  const { rows } = await knex.raw<{ rows: unknown[] }>('select 1 from pg_roles where rolname = ?', [login]);
  if (rows.length === 0) await knex.raw('create role ?? nologin', [login]);
  await knex.raw('grant ?? to ??', [databaseRoles[role], login]);
  // The text is base64 and digits alone, so it needs no quoting.
  await knex.raw(`alter role ?? login password '${verifierOf(password)}'`, [login]);
}

const iterations = 4096;

/**
 * Writes the password as PostgreSQL keeps it (RFC 5803), so that no statement and no log of statements has the password
 * itself.
 */
function verifierOf(password: string): string {
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const clientKey = createHmac('sha256', salted).update('Client Key').digest();
  const storedKey = createHash('sha256').update(clientKey).digest('base64');
  const serverKey = createHmac('sha256', salted).update('Server Key').digest('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}
