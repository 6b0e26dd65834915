import type { AddCommand } from '../../command.js';
import { duration, secondsBetween } from '../../output/time.js';
import { ofFamily } from '../../rentals/unknown-family.js';
import { quoteFacts } from '../../views/quote.js';
import { addWish, wishOf, withOwnKey, type WishOptions } from './wish.js';

/** gpu quote */
export const addQuote: AddCommand = (program, act) => {
  addWish(program.command('quote'))
    .summary('what a machine would cost')
    .description(
      'What a machine would cost, and the most it can cost. The price holds for a minute; nothing is rented.',
    )
    .action(
      act(async (cli, family: string | undefined, options: WishOptions) => {
        const { out } = cli;
        const client = cli.client();
        const asked = await wishOf(cli, family, options);
        // Who can have no key here still learns the price.
        const wish = await withOwnKey(cli, asked).catch(() => asked);
        const quote = await ofFamily(cli, wish.familyId, () =>
          client.quotes.create(wish, { signal: cli.signal }),
        );
        const holdsFor = duration(secondsBetween(cli.now(), quote.expiresAt));
        out.result(quote, () => [
          ...out.facts(quoteFacts(quote)),
          '',
          ...out.text(
            quote.missingCents > 0
              ? `Add money first: gpu pay ${Math.max(1, Math.ceil(quote.missingCents / 100))}`
              : `Rent it within ${holdsFor}: gpu rent --quote ${quote.quoteId}`,
          ),
        ]);
        return undefined;
      }),
    );
};
