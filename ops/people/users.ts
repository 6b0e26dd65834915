import type { Command } from 'commander';
import { deviceOf } from '../../adapters/device.js';
import {
  listUsers,
  readUserSummary,
  type UserSummary,
} from '../../adapters/postgres/accounts/user-lookup.js';
import { listSessions } from '../../adapters/postgres/accounts/session-list.js';
import { findClosing, listReturns } from '../../adapters/postgres/accounts/closings.js';
import type { AccountClosingRow, ClosingRefundRow } from '../../adapters/postgres/rows/tables.js';
import { getUser, userIdOf } from './named-user.js';
import { addApiKeyCommands } from './api-keys.js';
import { using, type OpsContext } from '../context.js';
import { actByHand } from '../direct.js';
import { asOperator, countOf, type OperatorOptions } from '../options.js';
import { iso, printFacts, printRows, readable, whenSet, type Fact, type Print } from '../output.js';

/** `ops users …` */
export function addUserCommands(program: Command, context: OpsContext): void {
  const users = program
    .command('users')
    .alias('user')
    .description('Users: accounts, sessions, and blocking.')
    .addHelpText(
      'after',
      `
Examples:
  ops users list
  ops users find ann@example.com
  ops users block ann@example.com --by ada --reason "stolen cards"`,
    );
  readable(users.command('list'))
    .description('Lists them, newest first.')
    .option('--limit <count>', 'how many at most', countOf, 50)
    .action(({ limit, json }: Print & { limit: number }) =>
      using(context, async (db) => {
        printRows(await listUsers(db, limit), json, (user) =>
          [
            user.id,
            user.email,
            `since ${iso(user.created_at)}`,
            user.blocked_at === null ? '' : `BLOCKED: ${user.blocked_reason ?? ''}`,
          ].join('  '),
        );
      }),
    );
  readable(users.command('find').argument('<who>', 'an email address or usr_…'))
    .description('Shows one user, with their wallet, machines and debts.')
    .action((who: string, { json }: Print) =>
      using(context, async (db) => {
        const summary = await readUserSummary(db, await getUser(db, who));
        printFacts(summary, json, factsOf(summary));
      }),
    );
  readable(users.command('sessions').argument('<who>', 'an email address or usr_…'))
    .description('Lists where a user is signed in, newest sign-in first.')
    .option('--limit <count>', 'how many at most', countOf, 50)
    .action((who: string, { limit, json }: Print & { limit: number }) =>
      using(context, async (db) => {
        const { id } = await getUser(db, who);
        printRows(await listSessions(db, id, undefined, limit), json, (session) =>
          [
            session.id,
            deviceOf(session.user_agent) ?? 'unknown device',
            session.client_address ?? 'unknown address',
            `since ${iso(session.created_at)}`,
            `last seen ${iso(session.last_seen_at)}`,
            `until ${iso(session.expires_at)}`,
          ].join('  '),
        );
      }),
    );
  readable(users.command('closing').argument('<who>', 'an email address or usr_…'))
    .description('Shows how far the closing of an account is, and what went back to its cards.')
    .action((who: string, { json }: Print) =>
      using(context, async (db) => {
        const { id } = await getUser(db, who);
        const [closing, returns] = await Promise.all([findClosing(db, id), listReturns(db, id)]);
        printFacts({ closing: closing ?? null, returns }, json, factsOfClosing(closing, returns));
      }),
    );
  addApiKeyCommands(users, context);
  addChanges(users, context);
}

function addChanges(users: Command, context: OpsContext): void {
  const changes = [
    ['log-out', 'end_sessions', 'Ends all of a user’s sessions: they must sign in again everywhere.'],
    [
      'block',
      'block_user',
      'Blocks a user from renting and topping up. Their machines keep running: stop them with ops rentals stop.',
    ],
    ['unblock', 'unblock_user', 'Unblocks a user.'],
    [
      'close',
      'close_account',
      'Closes an account for good: its machines stop, its money goes back to its cards, and its person is erased.',
      'ends its machines, returns its money to its cards, and erases its person; you can’t call it off',
    ],
  ] as const;
  for (const [name, kind, description, then] of changes) {
    asOperator(users.command(name).argument('<who>', 'an email address or usr_…'))
      .description(description)
      .action((who: string, options: OperatorOptions) =>
        actByHand(context, async (db) => ({ kind, userId: await userIdOf(db, who) }), options, { then }),
      );
  }
}

function factsOfClosing(
  closing: AccountClosingRow | undefined,
  returns: readonly ClosingRefundRow[],
): Fact[] {
  if (!closing) return [['closing', 'nobody has asked for it']];
  return [
    ['state', `${closing.state}, asked for by ${closing.requested_by} at ${iso(closing.requested_at)}`],
    ['waits for', closing.waits_for.join(', ')],
    ['erased', closing.erased_at && iso(closing.erased_at)],
    ['lapsed', closing.lapsed_cents === 0 ? null : `${closing.lapsed_cents} cents`],
    ...returns.map((one): Fact => [
      'returned',
      `${one.amount_cents} cents of ${one.payment_id}: ${one.refund_id ?? one.refused_code ?? 'under way'}`,
    ]),
  ];
}

function factsOf({ user, wallet, ...rest }: UserSummary): Fact[] {
  return [
    ['user', `${user.id}  ${user.email}  since ${iso(user.created_at)}`],
    ['blocked', user.blocked_at && `since ${iso(user.blocked_at)}: ${user.blocked_reason ?? ''}`],
    ['blocked', rest.earlierBlock && `${rest.earlierBlock}; ops users unblock lifts it`],
    ['customer', user.processor_customer_id && `${user.processor_customer_id} at the payment processor`],
    ['wallet', `${wallet.available_cents} available + ${wallet.reserved_cents} reserved cents`],
    [
      'metering',
      wallet.metering_blocked_at &&
        `blocked${whenSet(wallet.metering_blocked_at, 'since')}: ${wallet.metering_blocked_reason ?? ''}`,
    ],
    ['machines', `${rest.liveRentals} live, ${rest.burnPerHourCents} cents/h`],
    ['debts', rest.openDebts === 0 ? null : `${rest.openDebts} open invoices, ${rest.openDebtCents} cents`],
    ['sessions', rest.sessions],
    ['wrong codes', rest.failedSignIns === 0 ? null : `${rest.failedSignIns} in the last 24 hours`],
  ];
}
