import { Command, CommanderError, Help } from 'commander';
import { Cli, version, type GlobalOptions } from './cli.js';
import type { Act, AddCommand, Handler } from './command.js';
import { addLogin } from './commands/account/login.js';
import { addLogout } from './commands/account/logout.js';
import { addKeys } from './commands/account/keys.js';
import { addCp } from './commands/machine/cp.js';
import { addPorts } from './commands/machine/ports.js';
import { addSsh } from './commands/machine/ssh.js';
import { addWatch } from './commands/machine/watch.js';
import { addBalance } from './commands/money/balance.js';
import { addBudget } from './commands/money/budget.js';
import { addCard } from './commands/money/card.js';
import { addExplain } from './commands/money/explain.js';
import { addInvoices } from './commands/money/invoices.js';
import { addLedger } from './commands/money/ledger.js';
import { addPay } from './commands/money/pay.js';
import { addStatement } from './commands/money/statement.js';
import { addTopup } from './commands/money/topup.js';
import { addExtend } from './commands/renting/extend.js';
import { addLs } from './commands/renting/ls.js';
import { addOffers } from './commands/renting/offers.js';
import { addQuote } from './commands/renting/quote.js';
import { addRent } from './commands/renting/rent.js';
import { addShow } from './commands/renting/show.js';
import { addStop } from './commands/renting/stop.js';
import { addCompletion } from './commands/tools/completion.js';
import { addMcp } from './commands/tools/mcp.js';
import { addWebhooks } from './commands/tools/webhooks.js';
import { defaultUrl } from './config/store.js';
import { exitCodes } from './exit-codes.js';
import { explainFailure } from './explain-failure.js';
import { wrap } from './output/text.js';
import { tellFailure } from './tell-failure.js';
import type { OutStream, Surroundings } from './surroundings.js';

/** The commands as --help groups them. */
const groups: readonly (readonly [heading: string, commands: readonly AddCommand[]])[] = [
  ['Your account:', [addLogin, addLogout, addKeys]],
  ['Renting:', [addOffers, addQuote, addRent, addLs, addShow, addExtend, addStop]],
  ['Using a machine:', [addSsh, addCp, addPorts, addWatch]],
  [
    'Money:',
    [addBalance, addPay, addCard, addTopup, addBudget, addLedger, addExplain, addStatement, addInvoices],
  ],
  ['Tools:', [addWebhooks, addMcp, addCompletion]],
];

/**
 * Runs one command line.
 * @param args the words after the command's own name
 * @returns the exit code
 */
export async function runGpu(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const result: { code: number } = { code: exitCodes.done };
  const dashes = args.indexOf('--');
  const opened: { cli: Cli | undefined } = { cli: undefined };
  const act: Act =
    <Args extends unknown[]>(handler: Handler<Args>) =>
    async (...given: [...Args, Command]) => {
      const command = given.at(-1) as Command;
      const dashed = dashes < 0 ? undefined : args.slice(dashes + 1);
      const cli = new Cli(surroundings, command.optsWithGlobals<GlobalOptions>(), dashed);
      opened.cli = cli;
      result.code = (await handler(cli, ...(given.slice(0, -1) as unknown[] as Args))) ?? exitCodes.done;
    };
  try {
    await createProgram(act, surroundings).parseAsync([...args], { from: 'user' });
    return result.code;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return exitCodes.done;
    const told = explainFailure(error, opened.cli?.url ?? defaultUrl, surroundings.signal.aborted);
    tellFailure(told, { surroundings, isJson: args.includes('--json') });
    return exitCodes[told.kind];
  }
}

/** Builds the command with all of its subcommands. */
export function createProgram(act: Act, { stdout, stderr }: Surroundings): Command {
  const program = new Command('gpu')
    .description('Rents GPU machines by the second, lets you into them, and shows what they cost.')
    .version(version, '-V, --version', 'print the version')
    .option(
      '--url <address>',
      `the service; else GPU_API_URL, or the last one signed in to, or ${defaultUrl}`,
    )
    .option('--json', 'print results as JSON')
    .option('-y, --yes', 'answer questions with yes')
    .option('--no-color', 'print no colours; NO_COLOR does the same')
    .helpOption('-h, --help', 'print how it is used')
    .helpCommand(false)
    .addHelpText('after', () => `\n${wrap(firstMachine, helpWidth(stdout)).join('\n')}`)
    .configureHelp(helpForm)
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
      // A failure is told in one place, for people and for programs.
      outputError: () => undefined,
      getOutHelpWidth: () => helpWidth(stdout),
      getErrHelpWidth: () => helpWidth(stderr),
    })
    .exitOverride();
  for (const [heading, commands] of groups) {
    program.commandsGroup(heading);
    for (const add of commands) add(program, act);
  }
  for (const command of allOf(program)) {
    command.helpOption('-h, --help', 'print how it is used').helpCommand(false).configureHelp(helpForm);
  }
  return program;
}

function allOf(command: Command): Command[] {
  return command.commands.flatMap((child) => [child, ...allOf(child)]);
}

const firstMachine = 'A first machine: gpu login, gpu pay 20, gpu rent, gpu ssh, gpu stop';

/** Below this width, what something means stands below its name. */
const narrow = 60;

const helpForm: Partial<Help> = {
  showGlobalOptions: true,
  styleUsage(this: Help, usage) {
    const title = 'Usage: '.length;
    return wrap(usage, (this.helpWidth ?? 80) - title).join(`\n${' '.repeat(title)}`);
  },
  formatItem(this: Help, term, termWidth, description, helper) {
    const width = this.helpWidth ?? 80;
    if (width >= narrow || description === '') {
      return Help.prototype.formatItem.call(this, term, termWidth, description, helper);
    }
    return [`  ${term}`, ...wrap(`      ${description}`, width, '      ')].join('\n');
  },
};

function helpWidth({ isTTY, columns }: OutStream): number {
  return isTTY === true && columns !== undefined && columns > 0 ? Math.min(columns, 100) : 80;
}
