import { brandName, type Card } from '@gpu-rental/client';
import { openPage } from '../../asking/open-page.js';
import { withSession } from '../../asking/with-session.js';
import type { Cli } from '../../cli.js';
import type { AddCommand } from '../../command.js';
import { Failure } from '../../failure.js';

/** gpu card */
export const addCard: AddCommand = (program, act) => {
  const card = program
    .command('card')
    .summary('your saved card')
    .description('Your saved card, which pays for automatic top-ups.')
    .action(
      act(async (cli) => {
        const saved = await cli.client().card.get({ signal: cli.signal });
        cli.out.result(saved, () => cli.out.text(wordsOf(saved)));
        return undefined;
      }),
    );
  card
    .command('add')
    .description('Save a card on your account’s page: no card number passes through this command.')
    .option('--no-browser', 'only print the page’s address')
    .action(
      act(async (cli, { browser }: { browser: boolean }) => {
        const url = `${cli.url}/app/billing`;
        cli.out.note('Save your card on this page:');
        if (cli.out.isJson) cli.out.json({ url });
        await openPage(cli, url, browser);
        return undefined;
      }),
    );
  card
    .command('remove')
    .description(
      'Remove the saved card. Asks for a code that we email you. This also turns off automatic top-ups.',
    )
    .action(
      act(async (cli) => {
        await remove(cli);
        return undefined;
      }),
    );
};

async function remove(cli: Cli): Promise<void> {
  const saved = await cli.client().card.get({ signal: cli.signal });
  if (saved.pmId === null) throw new Failure('notFound', 'You have no saved card.');
  const what = `remove your card (${wordsOf(saved)})`;
  const topups = await withSession(cli, what, async (client) => {
    await client.card.delete();
    return client.autoTopup.get();
  });
  cli.out.result({ removed: true }, () => [
    ...cli.out.text(`Removed: ${wordsOf(saved)}`),
    ...(topups.disabledReason === 'card_removed' ? cli.out.text('Automatic top-ups are now off.') : []),
  ]);
}

function wordsOf({ pmId, brand, last4, expMonth, expYear }: Card): string {
  if (pmId === null) return 'You have no saved card. Save one with: gpu card add';
  const expiry = expMonth === null || expYear === null ? '' : `, valid until ${expMonth}/${expYear}`;
  return `${brandName(brand ?? 'card')} ending in ${last4 ?? '????'}${expiry}`;
}
