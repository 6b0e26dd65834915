import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import knexFactory from 'knex';
import { sqlStateOf } from '../../adapters/postgres/sql-state.js';
import { databaseRoles } from '../../migrations/roles.js';
import { ensureOperatorLogin } from '../../migrations/logins.js';
import type { StackSecrets } from './secrets.js';
import { temporalEnv, type StackSettings } from './settings.js';
import { urlsOf } from './urls.js';

/**
 * The two operators of a local stack: the second approves orders that are too large for the first alone (decision 87,
 * "Operator orders").
 */
export const stackOperators = ['ada', 'bob'] as const;

/**
 * Makes the operators' logins, and records the address of this stack for the ops command, which finds the record by
 * itself (ops/local-stack.ts).
 */
export async function makeOperators(settings: StackSettings, secrets: StackSecrets): Promise<void> {
  const urls = urlsOf(settings);
  const ownerUrl = settings.databaseUrl ?? urls.database;
  const logins = Object.fromEntries(
    await Promise.all(
      stackOperators.map(async (name) => [name, await loginUrl(ownerUrl, name, secrets)] as const),
    ),
  );
  const found = {
    pid: process.pid,
    logins,
    env: {
      DATABASE_URL: ownerUrl,
      DATABASE_ROLE: databaseRoles.ops,
      ...temporalEnv(settings),
      ...(urls.temporalUi === null ? {} : { TEMPORAL_UI_URL: urls.temporalUi }),
      ...(settings.env['METER_SHARDS'] === undefined ? {} : { METER_SHARDS: settings.env['METER_SHARDS'] }),
    },
  };
  writeFileSync(fileOf(settings), `${JSON.stringify(found, null, 2)}\n`, { mode: 0o600 });
}

/** Removes the record, because the stack is about to stop. */
export function forgetOperators(settings: StackSettings): void {
  rmSync(fileOf(settings), { force: true });
}

/**
 * Returns the database's address for one operator. A developer's own database may refuse to make logins: then operators
 * are not told apart.
 */
async function loginUrl(ownerUrl: string, name: string, { operatorPassword }: StackSecrets): Promise<string> {
  const knex = knexFactory({ client: 'pg', connection: ownerUrl, pool: { min: 0, max: 1 } });
  try {
    const login = await ensureOperatorLogin(knex, name, operatorPassword);
    return Object.assign(new URL(ownerUrl), { username: login, password: operatorPassword }).toString();
  } catch (error) {
    if (sqlStateOf(error) === '42501') return '';
    throw error;
  } finally {
    await knex.destroy();
  }
}

function fileOf(settings: StackSettings): string {
  return join(settings.dataDir, 'ops.json');
}
