import type { AddCommand } from '../../command.js';
import { usd } from '../../output/money.js';
import { counted } from '../../output/text.js';
import { duration } from '../../output/time.js';

/** gpu balance */
export const addBalance: AddCommand = (program, act) => {
  program
    .command('balance')
    .summary('your balance, and how long it lasts')
    .description('Your balance, and how long it lasts.')
    .action(
      act(async (cli) => {
        const { out } = cli;
        const balance = await cli.client().wallet.get({ signal: cli.signal });
        const { openInvoiceCount, openInvoicesCents, burnPerHourCents, runwaySeconds } = balance;
        out.result(balance, () =>
          out.facts([
            ['Available', usd(balance.availableCents)],
            [
              'Held',
              balance.reservedCents === 0 ? null : `${usd(balance.reservedCents)} for running machines`,
            ],
            ['Your machines cost', burnPerHourCents === 0 ? null : `${usd(burnPerHourCents)} an hour`],
            ['It lasts', runwaySeconds === null ? null : duration(runwaySeconds)],
            [
              'To pay',
              openInvoiceCount === 0
                ? null
                : `${usd(openInvoicesCents)} on ${counted(openInvoiceCount, 'invoice')}: gpu invoices`,
            ],
          ]),
        );
        return undefined;
      }),
    );
};
