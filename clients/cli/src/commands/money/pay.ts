import type { Checkout, GpuRental, Topup } from '@gpu-rental/client';
import { setTimeout as sleep } from 'node:timers/promises';
import { openPage } from '../../asking/open-page.js';
import { overGaps } from '../../asking/over-gaps.js';
import { Progress } from '../../asking/progress.js';
import type { Cli } from '../../cli.js';
import { dollars, type AddCommand } from '../../command.js';
import { Failure } from '../../failure.js';
import { centsOf, usd } from '../../output/money.js';
import type { Standing } from '../../standing.js';

interface Options {
  /** false: --no-browser. */
  readonly browser: boolean;
  /** false: --no-wait. */
  readonly wait: boolean;
}

const lookEveryMs = 1_000;

/** gpu pay */
export const addPay: AddCommand = (program, act) => {
  program
    .command('pay')
    .argument('[amount]', 'in dollars, such as 20', dollars)
    .summary('add money to your wallet')
    .description('Add money to your wallet on the payment processor’s page. Waits until the money arrives.')
    .option('--no-browser', 'only print the page’s address')
    .option('--no-wait', 'do not wait for the money')
    .action(
      act(async (cli, given: number | undefined, options: Options) => {
        const client = cli.client();
        const amountCents = given ?? (await askAmount(cli));
        const checkout = await client.checkout.create({ amountCents }, { signal: cli.signal });
        cli.standing = openPayment(checkout);
        if (checkout.checkoutUrl !== null) await showPage(cli, checkout.checkoutUrl, amountCents, options);
        // A program reads there where to pay; at a terminal a person has seen it.
        if (cli.out.isJson && !cli.asking.canAsk) cli.out.jsonLine(checkout);
        else if (!options.wait) cli.out.result(checkout, () => ['Check what happened to it: gpu topup']);
        if (options.wait) await awaitMoney(cli, client, checkout.topupId);
        return undefined;
      }),
    );
};

async function askAmount(cli: Cli): Promise<number> {
  const text = await cli.asking.line(
    {
      message: 'How many dollars?',
      otherwise: 'Name the amount: gpu pay 20',
      givenUp: 'You were not charged.',
    },
    (given) => (centsOf(given) === undefined ? 'Enter an amount such as 20 or 12.50.' : undefined),
  );
  return centsOf(text) ?? 0;
}

async function showPage(cli: Cli, url: string, amountCents: number, { browser }: Options): Promise<void> {
  cli.out.note(`Pay ${usd(amountCents)} on this page:`);
  await openPage(cli, url, browser);
}

/** Waits until the payment is in the wallet, or has failed. */
async function awaitMoney(cli: Cli, client: GpuRental, topupId: string): Promise<void> {
  const { out, signal } = cli;
  const topup = await awaitTopup(cli, client, topupId);
  cli.standing = topup.status === 'succeeded' ? paid(topup) : undefined;
  if (topup.status !== 'succeeded') throw notPaid(topup);
  const balance = await overGaps(cli, () => client.wallet.get({ signal }));
  out.result({ topup, balance }, () => [
    ...out.text(
      `${out.paint('green', 'Paid')}: ${usd(topup.creditedCents ?? topup.amountCents)} is in your wallet. You now have ${usd(balance.availableCents)} available.`,
    ),
    ...(topup.receiptUrl === null ? [] : [`Receipt: ${topup.receiptUrl}`]),
  ]);
}

async function awaitTopup(cli: Cli, client: GpuRental, topupId: string): Promise<Topup> {
  const progress = new Progress(cli);
  try {
    for (;;) {
      const topup = await overGaps(cli, () => client.topups.get(topupId, { signal: cli.signal }));
      if (['succeeded', 'failed', 'expired'].includes(topup.status)) return topup;
      progress.update(
        topup.status === 'processing' ? 'Waiting for the bank' : 'Waiting for your payment',
        'ctrl-C to leave; the page stays open',
      );
      await sleep(lookEveryMs, undefined, { signal: cli.signal });
    }
  } finally {
    progress.end();
  }
}

/** What is paid on the page is credited, whoever waits for it. */
function openPayment({ topupId, checkoutUrl }: Checkout): Standing {
  return {
    details: { topupId, checkoutUrl },
    message: `The payment page stays open, and we still credit what you pay there. The payment is ${topupId}.`,
    next: 'Check what happened to it: gpu topup',
  };
}

function paid({ id }: Topup): Standing {
  return {
    details: { topupId: id },
    message: `The payment ${id} is in your wallet.`,
    next: 'See your wallet with: gpu balance',
  };
}

function notPaid({ id, status, error }: Topup): Failure {
  const details = { topupId: id, status };
  if (status === 'expired') {
    return new Failure(
      'notReached',
      'The payment page expired before you paid.',
      'Start again with: gpu pay',
      {
        details,
      },
    );
  }
  return new Failure(
    'noMoney',
    error ?? 'The payment failed. You were not charged.',
    'Try another card: gpu pay',
    { details },
  );
}
