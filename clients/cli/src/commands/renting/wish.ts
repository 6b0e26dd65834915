import type { NewRental } from '@gpu-rental/client';
import type { Command } from 'commander';
import { isServiceId } from '../../checked-answers.js';
import type { Cli } from '../../cli.js';
import { collect, dollars, timeSpan, wholeNumber } from '../../command.js';
import { usageFailure } from '../../failure.js';
import { usd } from '../../output/money.js';
import { ensureIdentity } from '../../ssh/identity.js';
import { findSshKey } from '../../ssh/stored-key.js';
import { addGuard, guardOf, type GuardOptions } from './idle-guard.js';
import { addSoftware, softwareOf, type SoftwareOptions } from './software.js';
import { addWords, wordsOf, type WordOptions } from './words.js';

/** The options that say what is wanted, of a quote and of a rental. */
export interface WishOptions extends WordOptions, SoftwareOptions, GuardOptions {
  readonly gpus?: number;
  readonly region?: string;
  readonly template?: string;
  readonly hours?: number;
  readonly maxSpend?: number;
  readonly maxPrice?: number;
  readonly telemetry?: boolean;
  readonly sshKey?: readonly string[];
}

/** Adds them to a command. */
export function addWish(command: Command): Command {
  const machine = command
    .argument('[family]', 'what to rent, such as h100-80gb (see gpu offers)')
    .option('-g, --gpus <number>', 'how many GPUs: 1, 2, 4 or 8', wholeNumber(1, 8))
    .option('-r, --region <region>', 'us, eu, apac, or a country such as DE')
    .option('-t, --template <name>', 'software to install, such as ubuntu-24-04, pytorch or vllm');
  return addGuard(addWords(addSoftware(machine)))
    .option('--hours <time>', 'stop it after this time, such as 2h or 90m', timeSpan)
    .option('--max-spend <dollars>', 'stop it when it has cost this much', dollars)
    .option('--max-price <dollars>', 'maximum price an hour', dollars)
    .option('--telemetry', 'report its usage: if its provider doesn’t, a small script of ours on it does')
    .option(
      '--ssh-key <key>',
      'a stored key that opens it, by name or id, instead of all; repeatable',
      collect,
    );
}

const counts = [1, 2, 4, 8] as const;

/** Makes a request of what was said on the command line. Who named no family is asked, where somebody can answer. */
export async function wishOf(cli: Cli, family: string | undefined, options: WishOptions): Promise<NewRental> {
  const { region, template, sshKey } = options;
  const gpuCount = counts.find((count) => count === (options.gpus ?? 1));
  if (gpuCount === undefined) throw usageFailure('--gpus must be 1, 2, 4 or 8.');
  return {
    familyId: family ?? (await askFamily(cli)),
    gpuCount,
    ...limitsOf(options),
    ...guardOf(options),
    ...(options.telemetry === true && { telemetry: true }),
    ...(region !== undefined && { region }),
    ...(template !== undefined && { templateId: template as NonNullable<NewRental['templateId']> }),
    ...wordsOf(options),
    ...(await softwareOf(cli, options)),
    ...(sshKey !== undefined && { sshKeyIds: await idsOf(cli, sshKey) }),
  };
}

async function idsOf(cli: Cli, keys: readonly string[]): Promise<string[]> {
  const areIds = keys.every((key) => isServiceId(key));
  const stored = areIds ? [] : await cli.client().sshKeys.list({ signal: cli.signal });
  return [...new Set(keys.map((key) => (isServiceId(key) ? key : findSshKey(stored, key).id)))];
}

/** This machine's own key goes with each rental, for it alone: so that who rents can enter, whatever is stored. */
export async function withOwnKey(cli: Cli, wish: NewRental): Promise<NewRental> {
  return { ...wish, sshPublicKeys: [await ensureIdentity(cli)] };
}

function limitsOf({ hours, maxSpend, maxPrice }: WishOptions): Partial<NewRental> {
  return {
    ...(hours !== undefined && { autoStopAfterHours: hours / 3_600 }),
    ...(maxSpend !== undefined && { maxSpendCents: maxSpend }),
    ...(maxPrice !== undefined && { maxPricePerHourCents: maxPrice }),
  };
}

async function askFamily(cli: Cli): Promise<string> {
  const question = {
    message: 'Which GPU?',
    otherwise: 'Name a family, such as: gpu rent h100-80gb. "gpu offers" lists them.',
    givenUp: 'Nothing was rented.',
  };
  if (!cli.asking.canAsk) throw usageFailure('Say what to rent.', question.otherwise);
  const families = await cli.anyone().catalog.families({ signal: cli.signal });
  return cli.asking.choice(
    question,
    families
      .filter(({ liveCount }) => liveCount > 0)
      .toSorted((a, b) => (a.fromPricePerHourCents ?? 0) - (b.fromPricePerHourCents ?? 0))
      .map(({ family, fromPricePerHourCents }) => ({
        value: family,
        label: family,
        ...(fromPricePerHourCents !== null && { hint: `from ${usd(fromPricePerHourCents)} an hour` }),
      })),
  );
}
