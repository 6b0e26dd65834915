import type { Cli } from '../../cli.js';
import type { AddCommand } from '../../command.js';
import { shortId } from '../../views/rental.js';

/** Somebody holds the tab key: what is not there by then is left out. */
const withinMs = 2_000;

/** What only the service knows, by the name of the argument or option that takes it. */
const readers: Readonly<Record<string, (cli: Cli) => Promise<string[]>>> = {
  async machine(cli) {
    const { rentals } = cli.client();
    const pages = await Promise.all(
      (['running', 'provisioning'] as const).map((status) =>
        rentals.list({ status, pageSize: 100 }, optionsOf(cli)).firstPage(),
      ),
    );
    return pages
      .flatMap((page) => page.rentals)
      .flatMap(({ id, name }) => [...(name === null ? [] : [name]), shortId(id)]);
  },
  async family(cli) {
    const families = await cli.anyone().catalog.families(optionsOf(cli));
    return families.filter(({ liveCount }) => liveCount > 0).map(({ family }) => family);
  },
  async template(cli) {
    const templates = await cli.anyone().catalog.templates(optionsOf(cli));
    return templates.map(({ id }) => id);
  },
};

function optionsOf({ signal }: Cli): { readonly signal: AbortSignal; readonly timeoutMs: number } {
  return { signal, timeoutMs: withinMs };
}

/** Tells whether the service knows words for an argument or option of this name. */
export function hasWords(name: string): boolean {
  return name in readers;
}

/** Shells evaluate what they complete: a name with other signs is typed by hand. */
const harmless = /^[\w.@+][\w.@+-]*$/;

/** gpu completion-words, which the scripts of gpu completion run */
export const addCompletionWords: AddCommand = (program, act) => {
  program
    .command('completion-words', { hidden: true })
    .argument('<kind>', Object.keys(readers).join(', '))
    .description('Print the words that complete an argument, for the scripts of gpu completion.')
    .action(
      act(async (cli, kind: string) => {
        // Whoever completes a word reads no failures: there is nothing to complete then.
        const words = (await readers[kind]?.(cli).catch(() => [])) ?? [];
        const safe = words.filter((word) => harmless.test(word));
        cli.out.result({ words: safe }, () => safe);
        return undefined;
      }),
    );
};
