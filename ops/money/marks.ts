import type { Command } from 'commander';
import { listOpenMarks } from '../../adapters/postgres/payments/charge-marks.js';
import { using, type OpsContext } from '../context.js';
import { actByHand } from '../direct.js';
import { asOperator, type OperatorOptions } from '../options.js';
import { iso, printRows, readable, type Print } from '../output.js';
import { getUser } from '../people/named-user.js';

/**
 * `ops marks …`: the users who are not charged while they are away, because a payment of theirs was denied (decision
 * 79, "Charge marks").
 */
export function addMarkCommands(program: Command, context: OpsContext): void {
  const marks = program
    .command('marks')
    .description(
      'Users and cards that we do not charge automatically, because of a dispute or fraud warning.',
    )
    .addHelpText(
      'after',
      `
Examples:
  ops marks
  ops marks --user ann@example.com
  ops marks lift du_1Q… --by ada --reason "they had forgotten the payment, and withdrew the dispute"`,
    );
  readable(marks.command('list', { isDefault: true }))
    .description('Lists those that nobody has lifted, oldest first.')
    .option(
      '--user <who>',
      'only those that affect one user, also through the card: an email address or usr_…',
    )
    .action(({ json, user }: Print & { user?: string }) =>
      using(context, async (db) => {
        const id = user === undefined ? undefined : (await getUser(db, user)).id;
        printRows(await listOpenMarks(db, id), json, (row) =>
          [
            row.id,
            row.kind,
            row.charge_id,
            row.user_id ?? 'no user of ours',
            `card ${row.fingerprint ?? 'unknown'}`,
            `since ${iso(row.marked_at)}`,
          ].join('  '),
        );
      }),
    );
  asOperator(marks.command('lift').argument('<mark>', 'du_… or issfr_…'))
    .description(
      'Lets us charge its payer and card automatically again. They turn automatic top-ups back on themselves.',
    )
    .action((markId: string, options: OperatorOptions) =>
      actByHand(context, { kind: 'lift_charge_mark', markId }, options),
    );
}
