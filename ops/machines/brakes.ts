import { Argument, type Command } from 'commander';
import { listBrakes } from '../../adapters/postgres/operators/brakes.js';
import { brakeKinds, type BrakeKind } from '../../domain/operations/operation.js';
import { using, type OpsContext } from '../context.js';
import { actByHand } from '../direct.js';
import { asOperator, type OperatorOptions } from '../options.js';
import { iso, printRows, readable, type Print } from '../output.js';

const what = `creates: nobody can rent. charges: nobody can begin a payment or save a card; pages that are open go
on. metering: running machines are not charged until you resume, and then for the whole time; stopped machines end only
then. webhooks: users' endpoints get no events until you resume, and then all of them.`;

/**
 * `ops pause`, `ops resume` and `ops brakes`: the global brakes (decision 37, "Brakes and the watermark"). They need
 * Postgres only.
 */
export function addBrakeCommands(program: Command, context: OpsContext): void {
  const verbs = [
    ['pause', 'Pulls a global brake, at once and for all processes.'],
    ['resume', 'Releases it.'],
  ] as const;
  for (const [kind, description] of verbs) {
    asOperator(program.command(kind).addArgument(new Argument('<what>', 'which').choices(brakeKinds)))
      .description(description)
      .addHelpText(
        'after',
        `\n${what}\n\nExample:\n  ops ${kind} creates --by ada --reason "upstream sells machines it does not have"`,
      )
      .action((brake: BrakeKind, options: OperatorOptions) => actByHand(context, { kind, brake }, options));
  }
  readable(program.command('brakes'))
    .description('Shows which brakes are pulled, by whom and why, as /readyz does.')
    .action(({ json }: Print) =>
      using(context, async (db) => {
        printRows(await listBrakes(db), json, (brake) =>
          [brake.kind, `since ${iso(brake.pulled_at)}`, `by ${brake.pulled_by}: ${brake.reason}`].join('  '),
        );
      }),
    );
}
