import { isApiError, mostOpen, openIdOf, type GpuRental, type Quote } from '@gpu-rental/client';
import { randomUUID } from 'node:crypto';
import { overGaps } from '../../asking/over-gaps.js';
import type { Cli } from '../../cli.js';
import type { AddCommand } from '../../command.js';
import { Failure, usageFailure } from '../../failure.js';
import { usd } from '../../output/money.js';
import { ofFamily } from '../../rentals/unknown-family.js';
import { quoteFacts, worstCase } from '../../views/quote.js';
import type { Standing } from '../../standing.js';
import { awaitReady, goingOn, readyLines, rentedLines } from './await-ready.js';
import { addWish, wishOf, withOwnKey, type WishOptions } from './wish.js';

interface Options extends WishOptions {
  readonly quote?: string;
  /** false: --no-wait. */
  readonly wait: boolean;
}

const nothingRented = 'Nothing was rented.';
/** A price that changes while somebody reads it is asked for again, so often. */
const newPricesAtMost = 5;

/** gpu rent */
export const addRent: AddCommand = (program, act) => {
  addWish(program.command('rent'))
    .summary('rent a machine')
    .description(
      'Rent a machine. It shows the most it can cost and asks you to confirm, then shows the progress until you can log in.',
    )
    .option('--quote <id>', 'use a quote from gpu quote; the same one never rents twice')
    .option('--no-wait', 'return as soon as it is rented, before it is ready')
    .action(
      act(async (cli, family: string | undefined, options: Options) => {
        await rent(cli, family, options);
        return undefined;
      }),
    );
};

async function rent(cli: Cli, family: string | undefined, options: Options): Promise<void> {
  const client = cli.client();
  const id = await open(cli, client, family, options);
  if (options.wait) {
    const rental = await awaitReady(cli, client, id);
    cli.out.result(rental, () => readyLines(cli, rental));
  } else {
    const rental = await overGaps(cli, () => client.rentals.get(id));
    cli.standing = goingOn(id, rental);
    cli.out.result(rental, () => rentedLines(cli, rental));
  }
}

/** Rents by a quote that was shown and agreed to. @returns the rental's id */
async function open(
  cli: Cli,
  client: GpuRental,
  family: string | undefined,
  options: Options,
): Promise<string> {
  if (options.quote !== undefined) {
    if (family !== undefined) throw usageFailure('The quote sets what you rent, so leave out the family.');
    return take(cli, client, options.quote);
  }
  const wish = await withOwnKey(cli, await wishOf(cli, family, options));
  let quote = await ofFamily(cli, wish.familyId, () => client.quotes.create(wish, { signal: cli.signal }));
  for (let round = 1; ; round += 1) {
    await agree(cli, quote);
    try {
      return await take(cli, client, quote.quoteId);
    } catch (error) {
      const newer = newQuoteIn(error);
      if (newer === undefined || round === newPricesAtMost) throw error;
      cli.out.note('The price has changed.');
      quote = newer;
    }
  }
}

async function agree(cli: Cli, quote: Quote): Promise<void> {
  const { out, asking } = cli;
  if (quote.missingCents > 0) {
    throw new Failure(
      'noMoney',
      `Your wallet must cover the first hour, ${usd(quote.holdCents)}. You need ${usd(quote.missingCents)} more.`,
      `Add money first: gpu pay ${Math.max(1, Math.ceil(quote.missingCents / 100))}`,
    );
  }
  if (!out.isJson) out.noteFacts(quoteFacts(quote));
  const agreed = await asking.agree({
    message: `Rent it for ${usd(quote.pricePerHourCents)} an hour?`,
    otherwise: `It costs at most ${worstCase(quote)}. Add --yes to rent without being asked.`,
    givenUp: nothingRented,
  });
  if (!agreed) throw new Failure('givenUp', nothingRented);
}

/**
 * Takes a quote. Ctrl-C does not end the request: once it was sent, whether there is a machine is worth the wait.
 * @returns the rental's id
 */
async function take(cli: Cli, client: GpuRental, quoteId: string): Promise<string> {
  if (cli.signal.aborted) throw new Failure('givenUp', nothingRented);
  const explain = (): void => cli.out.note('\nThe request has been sent. Waiting for its answer.');
  cli.signal.addEventListener('abort', explain, { once: true });
  // One key for all tries: whatever is lost on the way, one machine is rented.
  const idempotencyKey = randomUUID();
  try {
    const { id } = await cli.commit(
      () => overGaps(cli, () => client.rentals.create({ quoteId }, { idempotencyKey }), mostOpen),
      perhapsRented(quoteId),
      (rental) => goingOn(rental.id, undefined),
    );
    return id;
  } catch (error) {
    const id = openIdOf(error);
    if (id !== undefined) cli.standing = perhapsRented(quoteId, id);
    throw error;
  } finally {
    cli.signal.removeEventListener('abort', explain);
  }
}

/** @param rentalId what it is called, if the service knows that already */
function perhapsRented(quoteId: string, rentalId?: string): Standing {
  const named = rentalId === undefined ? '' : ` It would be ${rentalId}.`;
  return {
    details: { quoteId, outcome: 'unknown', ...(rentalId !== undefined && { rentalId }) },
    message: `The service did not confirm whether it rented the machine.${named}`,
    next: `Check with: gpu ls. If it is there, it costs money once it is ready; stop it with: gpu stop. To be sure, repeat the same quote: gpu rent --quote ${quoteId}`,
  };
}

function newQuoteIn(error: unknown): Quote | undefined {
  if (!isApiError(error, 'quote_expired') && !isApiError(error, 'price_changed')) return undefined;
  return error.details.quote ?? undefined;
}
