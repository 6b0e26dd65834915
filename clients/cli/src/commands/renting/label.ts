import type { Rental } from '@gpu-rental/client';
import type { Cli } from '../../cli.js';
import type { AddCommand } from '../../command.js';
import { usageFailure } from '../../failure.js';
import { findRental } from '../../rentals/find-rental.js';
import { gpusOf, shortId } from '../../views/rental.js';
import { machineArgument } from './show.js';
import { labelWords } from './words.js';

/** gpu label */
export const addLabel: AddCommand = (program, act) => {
  program
    .command('label')
    .argument(...machineArgument)
    .argument('<labels...>', 'key=value sets a label, key- removes it')
    .summary('set or remove labels of a machine')
    .description('Set or remove labels of a machine, by which a statement adds up what machines cost.')
    .action(
      act(async (cli, given: string, words: readonly string[]) => {
        await label(cli, given, changesOf(words));
        return undefined;
      }),
    );
};

/** The labels that are set, and with undefined those that are removed. */
type Changes = ReadonlyMap<string, string | undefined>;

function changesOf(words: readonly string[]): Changes {
  const changes = new Map(words.map(changeOf));
  if (changes.size === words.length) return changes;
  throw usageFailure('Name each label once.');
}

function changeOf(word: string): [key: string, value: string | undefined] {
  const [, key = '', value] = /^([^=]+)=(.*)$/s.exec(word) ?? /^([^=]+)-$/.exec(word) ?? [];
  if (key !== '') return [key, value];
  throw usageFailure(`"${word}" is not a label.`, 'key=value sets one, and key- removes it.');
}

async function label(cli: Cli, given: string, changes: Changes): Promise<void> {
  const client = cli.client();
  const rental = await findRental(cli, client, given, 'label');
  const labels = labelsAfter(rental, changes);
  const changed = await client.rentals.change(rental.id, { labels }, { signal: cli.signal });
  const words = labelWords(changed);
  cli.out.result(changed, () =>
    cli.out.text(`${shortId(changed.id)} (${gpusOf(changed)}) has ${words ?? 'no labels'} now.`),
  );
}

/** All labels: a request replaces them as a whole. */
function labelsAfter({ labels }: Rental, changes: Changes): Record<string, string> {
  return Object.fromEntries(
    [...new Map<string, string | undefined>([...Object.entries(labels), ...changes])].flatMap(
      ([key, value]) => (value === undefined ? [] : [[key, value]]),
    ),
  );
}
