import { isApiError } from '@gpu-rental/client';
import { Command, CommanderError, Help } from 'commander';
import { Cli, version, type GlobalOptions } from './cli.js';
import { wholeNumber, type Act, type AddCommand, type Handler } from './command.js';
import { addAccount } from './commands/account/account.js';
import { addAudit } from './commands/account/audit.js';
import { addEvents } from './commands/account/events.js';
import { addLogin } from './commands/account/login.js';
import { addLogout } from './commands/account/logout.js';
import { addKeys } from './commands/account/keys.js';
import { addWhoami } from './commands/account/whoami.js';
import { addCp } from './commands/machine/cp.js';
import { addNotebook } from './commands/machine/notebook.js';
import { addExport } from './commands/machine/export.js';
import { addPorts } from './commands/machine/ports.js';
import { addSsh } from './commands/machine/ssh.js';
import { addSshConfig } from './commands/machine/ssh-config.js';
import { addKeepAlive } from './commands/machine/keep-alive.js';
import { addUsage } from './commands/machine/usage.js';
import { addWatch } from './commands/machine/watch.js';
import { addBalance } from './commands/money/balance.js';
import { addBilling } from './commands/money/billing.js';
import { addBudget } from './commands/money/budget.js';
import { addCard } from './commands/money/card.js';
import { addExplain } from './commands/money/explain.js';
import { addInvoices } from './commands/money/invoices.js';
import { addLedger } from './commands/money/ledger.js';
import { addPay } from './commands/money/pay.js';
import { addProof } from './commands/money/proof.js';
import { addReceipts } from './commands/money/receipts.js';
import { addStatement } from './commands/money/statement.js';
import { addTopup } from './commands/money/topup.js';
import { addVerify } from './commands/money/verify.js';
import { addExtend } from './commands/renting/extend.js';
import { addLabel } from './commands/renting/label.js';
import { addLs } from './commands/renting/ls.js';
import { addOffers } from './commands/renting/offers.js';
import { addQuote } from './commands/renting/quote.js';
import { addRename } from './commands/renting/rename.js';
import { addRent } from './commands/renting/rent.js';
import { addShow } from './commands/renting/show.js';
import { addStop } from './commands/renting/stop.js';
import { addApi } from './commands/tools/api.js';
import { addCompletion } from './commands/tools/completion.js';
import { addCompletionWords } from './commands/tools/completion-words.js';
import { addMcp } from './commands/tools/mcp.js';
import { addWebhooks } from './commands/tools/webhooks.js';
import { defaultUrl } from './config/store.js';
import { examples } from './examples.js';
import { exitCodes } from './exit-codes.js';
import { explainFailure, type Told } from './explain-failure.js';
import { Failure, usageFailure } from './failure.js';
import { selectBy } from './output/jq.js';
import { guessOf } from './output/similar.js';
import { wrap } from './output/text.js';
import { Reader, type Gone } from './output/reader.js';
import { committed } from './standing.js';
import { tellFailure } from './tell-failure.js';
import type { OutStream, Surroundings } from './surroundings.js';

/** The commands as --help groups them. */
const groups: readonly (readonly [heading: string, commands: readonly AddCommand[]])[] = [
  ['Your account:', [addLogin, addLogout, addWhoami, addKeys, addEvents, addAudit, addAccount]],
  ['Renting:', [addOffers, addQuote, addRent, addLs, addShow, addRename, addLabel, addExtend, addStop]],
  [
    'Using a machine:',
    [addSsh, addSshConfig, addExport, addCp, addPorts, addNotebook, addUsage, addKeepAlive, addWatch],
  ],
  [
    'Money:',
    [
      addBalance,
      addPay,
      addCard,
      addTopup,
      addBudget,
      addLedger,
      addExplain,
      addStatement,
      addProof,
      addInvoices,
      addReceipts,
      addBilling,
      addVerify,
    ],
  ],
  ['Tools:', [addApi, addWebhooks, addMcp, addCompletion, addCompletionWords]],
];

/**
 * Runs one command line.
 * @param args the words after the command's own name
 * @param onCli is told of the command as soon as it is known what it works with
 * @returns the exit code
 */
export async function runGpu(
  args: readonly string[],
  given: Surroundings,
  onCli?: (cli: Cli) => void,
): Promise<number> {
  const result: { code: number } = { code: exitCodes.done };
  const dashes = args.indexOf('--');
  const isJson = (dashes < 0 ? args : args.slice(0, dashes)).includes('--json');
  const opened: Opened = { cli: undefined, command: undefined };
  const reader = new Reader(given);
  const { surroundings } = reader;
  const act: Act =
    <Args extends unknown[]>(handler: Handler<Args>) =>
    async (...given: [...Args, Command]) => {
      const command = given.at(-1) as Command;
      opened.command = command;
      refuseUnknown(command);
      const dashed = dashes < 0 ? undefined : args.slice(dashes + 1);
      const cli = new Cli(surroundings, command.optsWithGlobals<GlobalOptions>(), dashed);
      opened.cli = cli;
      onCli?.(cli);
      const { jq } = cli.options;
      if (jq !== undefined) cli.out.select = await selectBy(jq);
      result.code = (await handler(cli, ...(given.slice(0, -1) as unknown[] as Args))) ?? exitCodes.done;
    };
  try {
    const program = createProgram(act, surroundings, isJson);
    for (const command of [program, ...allOf(program)]) {
      command.exitOverride((error) => {
        opened.command = command;
        throw error;
      });
    }
    await program.parseAsync([...args], { from: 'user' });
    await reader.hasAll();
    opened.cli?.out.endRemarks();
    return result.code;
  } catch (error) {
    if (isHelp(error, isJson)) return exitCodes.done;
    return await tell(error, { surroundings, isJson, ...opened, reader });
  } finally {
    reader.end();
  }
}

/** A group that does something by itself takes words that are none of its commands: they are mistyped ones. */
function refuseUnknown(command: Command): void {
  const word = command.args[command.registeredArguments.length];
  if (command.commands.length === 0 || word === undefined) return;
  const guess = guessOf(
    word,
    command.commands.map((child) => child.name()),
  );
  throw usageFailure(`${pathOf(command)} has no command "${word}".${guess === undefined ? '' : ` ${guess}`}`);
}

/** What is known of a command line as it runs: its command, and what that works with. */
interface Opened {
  cli: Cli | undefined;
  command: Command | undefined;
}

interface Ended extends Readonly<Opened> {
  readonly surroundings: Surroundings;
  readonly isJson: boolean;
  readonly reader: Reader;
}

/** Tells why a command ended, and what exists all the same. @returns the exit code */
async function tell(error: unknown, { surroundings, isJson, cli, command, reader }: Ended): Promise<number> {
  const gone = await reader.whyGone();
  const ending = gone && !isOwn(error, gone) ? gone : undefined;
  // Who reads the first lines only ("| head") has all that they want, unless there is more to know.
  if (ending?.isLeft === true && cli?.standing === undefined) return exitCodes.done;
  const told = whatEnded(ending?.failure ?? error, cli, surroundings.signal.aborted);
  tellFailure(told.kind === 'usage' ? led(told, command) : told, { surroundings, isJson });
  return exitCodes[told.kind];
}

/** Leads a wrong command line to its command's help, where nothing better comes next. */
function led(told: Told, command: Command | undefined): Told {
  return { ...told, next: told.next ?? (command && helpOf(command)) };
}

/** Whether a failure says more than that the command was cancelled because its results reach nobody. */
function isOwn(error: unknown, { failure }: Gone): boolean {
  if (error instanceof Failure) return error.kind !== 'givenUp' && error.cause !== failure.cause;
  return isApiError(error);
}

function whatEnded(error: unknown, cli: Cli | undefined, givenUp: boolean): Told {
  const asked = { url: cli?.askedUrl ?? defaultUrl, timeoutSeconds: cli?.timeoutSeconds };
  const why = explainFailure(error, asked, givenUp);
  return cli?.standing === undefined ? why : committed(why, cli.standing);
}

/** The help or the version was printed: also for a group of commands of which none was named. */
function isHelp(error: unknown, isJson: boolean): boolean {
  if (!(error instanceof CommanderError)) return false;
  return error.exitCode === 0 || (error.code === 'commander.help' && !isJson);
}

/** Builds the command with all of its subcommands. */
export function createProgram(act: Act, { stdout }: Pick<Surroundings, 'stdout'>, isJson = false): Command {
  const program = new Command('gpu')
    .description('Rent GPU machines by the second, log in to them, and see what they cost.')
    .version(version, '-V, --version', 'print the version')
    .option(
      '--url <address>',
      `the service (default: GPU_API_URL, the last one you signed in to, or ${defaultUrl})`,
    )
    .option('--profile <name>', 'the sign-in to use (default: GPU_PROFILE, or the unnamed one)')
    .option('--json', 'print results as JSON')
    .option('--jq <expression>', 'print what a jq expression chooses of the JSON')
    .option('-y, --yes', 'answer yes to all questions')
    .option('--timeout <seconds>', 'how long the service may take to answer', wholeNumber(1, 120))
    .option('--no-color', 'print without colours, as NO_COLOR does')
    .helpOption('-h, --help', 'show help')
    .helpCommand(false)
    .addHelpText('after', () => `\n${wrap(firstMachine, helpWidth(stdout)).join('\n')}`)
    .configureHelp(helpForm)
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      // Of a group without a command the help is the result; programs get a failure as JSON, and nothing beside it.
      writeErr: (text) => {
        if (!isJson) stdout.write(text);
      },
      // A failure is told in one place, for people and for programs.
      outputError: () => undefined,
      getOutHelpWidth: () => helpWidth(stdout),
      getErrHelpWidth: () => helpWidth(stdout),
    })
    .exitOverride();
  for (const [heading, commands] of groups) {
    program.commandsGroup(heading);
    for (const add of commands) add(program, act);
  }
  for (const command of allOf(program)) {
    command
      .helpOption('-h, --help', 'show help')
      .helpCommand(false)
      .configureHelp(helpForm)
      .addHelpText('after', () => exampleText(command, helpWidth(stdout)));
    if (command.commands.length > 0) command.allowExcessArguments();
  }
  return program;
}

/** Where a command tells how it is called, and how that looks with something behind its name. */
function helpOf(command: Command): string {
  const path = pathOf(command);
  const example = examples[path]?.find((line) => line.startsWith(`gpu ${path} `));
  const help = `See the help: ${`gpu ${path}`.trim()} --help`;
  return example === undefined ? help : `${help}\nFor example: ${example}`;
}

function exampleText(command: Command, width: number): string {
  const lines = examples[pathOf(command)] ?? [];
  // A line that is too long goes on as a shell reads it.
  const told = lines.map((line) => wrap(`  ${line}`, width - 2, '      ').join(' \\\n'));
  return told.length === 0 ? '' : `\nExamples:\n${told.join('\n')}`;
}

/** The words by which a command is called: "keys ssh add". */
export function pathOf(command: Command): string {
  const { parent } = command;
  return parent === null ? '' : `${pathOf(parent)} ${command.name()}`.trim();
}

/** A command and all commands below it, in the order of the help. */
export function allOf(command: Command): Command[] {
  return command.commands.flatMap((child) => [child, ...allOf(child)]);
}

const firstMachine = 'Your first machine: gpu login, gpu pay 20, gpu rent, gpu ssh, gpu stop';

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
