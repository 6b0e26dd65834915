import knexFactory, { type Knex } from 'knex';
import { refuseOldServer } from '../adapters/postgres/fitness.js';
import * as accounts from './001-accounts.js';
import * as wallets from './002-wallets.js';
import * as catalog from './003-catalog.js';
import * as rentals from './004-rentals.js';
import * as billing from './005-billing.js';
import * as service from './006-service.js';
import * as cards from './007-cards.js';
import * as invoices from './008-invoices.js';
import * as upstreams from './009-upstreams.js';
import * as catalogSpeed from './010-catalog-speed.js';
import * as oauth from './011-oauth.js';
import * as audit from './012-audit.js';
import * as reconcile from './013-reconcile.js';
import * as roles from './014-roles.js';
import * as operators from './015-operators.js';
import * as figures from './016-figures.js';
import * as restored from './017-restored.js';
import * as parked from './018-parked.js';
import * as nothingStuck from './019-nothing-stuck.js';
import * as lostMachines from './020-lost-machines.js';
import * as upstreamsTold from './021-upstreams-told.js';
import * as chargeMarks from './022-charge-marks.js';
import * as promisesKept from './023-promises-kept.js';
import * as signIn from './024-sign-in.js';
import * as operatorOrders from './025-operator-orders.js';
import * as creditedByHand from './026-credited-by-hand.js';
import * as topupLevel from './027-topup-level.js';
import * as upstreamLimits from './028-upstream-limits.js';
import * as refundsOfMany from './029-refunds-of-many.js';
import * as events from './030-events.js';
import * as openStreams from './031-open-streams.js';
import * as told from './032-told.js';
import * as webhooks from './033-webhooks.js';
import * as notices from './034-notices.js';
import * as quotes from './035-quotes.js';
import * as changedRentals from './036-changed-rentals.js';
import * as progress from './037-progress.js';
import * as apiKeys from './038-api-keys.js';
import * as capsAndBudgets from './039-caps-and-budgets.js';
import * as sessions from './040-sessions.js';
import * as oneLook from './041-one-look.js';
import * as cheaperChains from './042-cheaper-chains.js';
import * as unwrittenMeters from './043-unwritten-meters.js';
import * as carefulLooks from './044-careful-looks.js';
import * as markedWhenBroken from './045-marked-when-broken.js';
import * as accountTies from './046-account-ties.js';
import * as endsOwn from './047-ends-own.js';
import * as declines from './048-declines.js';

type Step = { up(knex: Knex): Promise<void> };

/** The steps by name, in order. Names have no file ending, so that sources and a build agree on them. */
const steps: readonly [name: string, step: Step][] = [
  ['001-accounts', accounts],
  ['002-wallets', wallets],
  ['003-catalog', catalog],
  ['004-rentals', rentals],
  ['005-billing', billing],
  ['006-service', service],
  ['007-cards', cards],
  ['008-invoices', invoices],
  ['009-upstreams', upstreams],
  ['010-catalog-speed', catalogSpeed],
  ['011-oauth', oauth],
  ['012-audit', audit],
  ['013-reconcile', reconcile],
  ['014-roles', roles],
  ['015-operators', operators],
  ['016-figures', figures],
  ['017-restored', restored],
  ['018-parked', parked],
  ['019-nothing-stuck', nothingStuck],
  ['020-lost-machines', lostMachines],
  ['021-upstreams-told', upstreamsTold],
  ['022-charge-marks', chargeMarks],
  ['023-promises-kept', promisesKept],
  ['024-sign-in', signIn],
  ['025-operator-orders', operatorOrders],
  ['026-credited-by-hand', creditedByHand],
  ['027-topup-level', topupLevel],
  ['028-upstream-limits', upstreamLimits],
  ['029-refunds-of-many', refundsOfMany],
  ['030-events', events],
  ['031-open-streams', openStreams],
  ['032-told', told],
  ['033-webhooks', webhooks],
  ['034-notices', notices],
  ['035-quotes', quotes],
  ['036-changed-rentals', changedRentals],
  ['037-progress', progress],
  ['038-api-keys', apiKeys],
  ['039-caps-and-budgets', capsAndBudgets],
  ['040-sessions', sessions],
  ['041-one-look', oneLook],
  ['042-cheaper-chains', cheaperChains],
  ['043-unwritten-meters', unwrittenMeters],
  ['044-careful-looks', carefulLooks],
  ['045-marked-when-broken', markedWhenBroken],
  ['046-account-ties', accountTies],
  ['047-ends-own', endsOwn],
  ['048-declines', declines],
];

/** The names of all steps: a database must have them for this code to work on it. */
export const schemaSteps: readonly string[] = steps.map(([name]) => name);

const sourceThrough = (last: string | undefined): Knex.MigrationSource<readonly [string, Step]> => ({
  getMigrations: () => Promise.resolve(steps.slice(0, steps.findIndex(([name]) => name === last) + 1)),
  getMigrationName: ([name]) => name,
  getMigration: ([, step]) =>
    Promise.resolve({
      up: (knex: Knex) => step.up(knex),
      down: () =>
        Promise.reject(new Error('Migrations go forward only: write a new one that mends the schema.')),
    }),
});

/**
 * Brings a database to the newest schema. Several processes may call it at once: knex lets one in.
 * @param last the step to end with, for what is to be tried on an older schema; default: the newest
 * @throws DatabaseUnfit where the server is older than PostgreSQL 17; nothing is changed then
 * @returns the names of the steps that were taken now
 */
export async function migrateToLatest(databaseUrl: string, last = schemaSteps.at(-1)): Promise<string[]> {
  const knex = knexFactory({ client: 'pg', connection: databaseUrl, pool: { min: 0, max: 2 } });
  try {
    const { rows } = await knex.raw<{ rows: { version: number }[] }>(
      `select current_setting('server_version_num')::int as version`,
    );
    refuseOldServer(rows[0]?.version ?? 0);
    const [, taken] = (await knex.migrate.latest({ migrationSource: sourceThrough(last) })) as [
      number,
      string[],
    ];
    return taken;
  } finally {
    await knex.destroy();
  }
}
