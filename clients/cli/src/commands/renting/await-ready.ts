import { RentalNotReadyError, type GpuRental, type Rental } from '@gpu-rental/client';
import { Progress } from '../../asking/progress.js';
import type { Cli } from '../../cli.js';
import { Failure } from '../../failure.js';
import { usd } from '../../output/money.js';
import { duration, secondsBetween } from '../../output/time.js';
import { gpusOf, limitsOf, phaseWords, shortId, warningWords } from '../../views/rental.js';

/**
 * Waits until a rental can be entered, and shows how far it is.
 * @throws Failure notReached when it did not come up; givenUp, which says what exists, after ctrl-C
 */
export async function awaitReady(cli: Cli, client: GpuRental, id: string): Promise<Rental> {
  const progress = new Progress(cli);
  const seen: { rental: Rental | undefined } = { rental: undefined };
  const show = (): void => {
    const { rental } = seen;
    // The result says that it is ready, and more.
    if (rental && rental.phase !== 'ready')
      progress.update(phaseOf(rental), timesOf(rental, cli.surroundings.now()));
  };
  const timer = setInterval(show, 1_000);
  try {
    return await client.rentals.waitUntilReady(id, {
      signal: cli.signal,
      onPhase: (rental) => {
        seen.rental = rental;
        show();
      },
    });
  } catch (error) {
    progress.end();
    if (error instanceof RentalNotReadyError) throw notReady(error);
    if (cli.signal.aborted) throw givenUp(id, seen.rental);
    throw error;
  } finally {
    clearInterval(timer);
    progress.end();
  }
}

function phaseOf(rental: Rental): string {
  const what = rental.phase === null ? 'Getting the machine' : phaseWords[rental.phase];
  const again = (rental.attempt ?? 1) > 1 ? ` (machine ${rental.attempt ?? 1})` : '';
  return `${what}${again}`;
}

function timesOf({ startedAt, expectedReadyAt }: Rental, nowMs: number): string {
  const waited = duration(secondsBetween(startedAt, nowMs));
  if (expectedReadyAt === null || Date.parse(expectedReadyAt) <= nowMs) return waited;
  return `${waited}, about ${duration(secondsBetween(nowMs, expectedReadyAt))} left`;
}

function notReady({ rental, timedOut }: RentalNotReadyError): Failure {
  if (timedOut) {
    return new Failure(
      'notReached',
      `${shortId(rental.id)} is not ready yet. It goes on, and costs nothing until it is.`,
      `Look with: gpu show ${shortId(rental.id)}. End it with: gpu stop ${shortId(rental.id)}`,
    );
  }
  if (rental.status === 'failed') {
    return new Failure(
      'notReached',
      rental.failure?.message ?? 'The machine did not come up; nothing was charged.',
      'Nothing was charged. Rent another one with: gpu rent',
    );
  }
  return new Failure(
    'notReached',
    `${shortId(rental.id)} was stopped before it was ready. It cost ${usd(rental.totalChargedCents)}.`,
    'Rent another one with: gpu rent',
  );
}

/** What exists when somebody leaves: never nothing, because the rental was opened. */
function givenUp(id: string, rental: Rental | undefined): Failure {
  const price = rental === undefined ? '' : `, then ${usd(rental.pricePerHourCents)} an hour`;
  const phase = rental?.phase ?? undefined;
  const where = phase === undefined ? '' : ` (${phaseWords[phase].toLowerCase()})`;
  return new Failure(
    'givenUp',
    `You have rented ${shortId(id)}, and it goes on without you${where}. It costs nothing until it is ready${price}.`,
    `End it with: gpu stop ${shortId(id)}. Or go on: gpu watch, gpu ssh ${shortId(id)}`,
  );
}

/** What is said of a machine that can be entered. */
export function readyLines({ out }: Cli, rental: Rental): string[] {
  const short = shortId(rental.id);
  const took =
    rental.runningAt === null ? '' : ` after ${duration(secondsBetween(rental.startedAt, rental.runningAt))}`;
  return [
    `${out.paint('green', 'Ready')}${took}: ${out.paint('bold', short)}, ${gpusOf(rental)} in ${rental.region}`,
    ...rental.warnings.flatMap((warning) => out.text(warningWords(warning))),
    ...out.text(
      `It costs ${usd(rental.pricePerHourCents)} an hour from now on and ends ${limitsOf(rental)}.`,
    ),
    '',
    ...out.facts([
      ['Enter it', `gpu ssh ${short}`],
      ['See its cost', 'gpu watch'],
      ['End it', `gpu stop ${short}`],
    ]),
  ];
}

/** What is said of a machine that is not waited for. */
export function rentedLines({ out }: Cli, rental: Rental): string[] {
  const short = shortId(rental.id);
  return [
    `Rented ${out.paint('bold', short)}: ${gpusOf(rental)} in ${rental.region}`,
    ...out.text(`It costs nothing until it is ready, then ${usd(rental.pricePerHourCents)} an hour.`),
    ...out.text(`See how far it is: gpu show ${short}. End it: gpu stop ${short}`),
  ];
}
