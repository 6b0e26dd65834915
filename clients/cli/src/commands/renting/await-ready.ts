import { type GpuRental, type Rental, RentalNotReadyError, wordOf } from '@gpu-rental/client';
import { Progress } from '../../asking/progress.js';
import type { Cli } from '../../cli.js';
import { Failure } from '../../failure.js';
import { usd } from '../../output/money.js';
import { duration, secondsBetween } from '../../output/time.js';
import type { Standing } from '../../standing.js';
import { endpointFacts, gpusOf, limitsOf, phaseWords, shortId, warningWords } from '../../views/rental.js';

/**
 * Waits until a rental can be entered, and shows how far it is. A network that fails for a while is waited for.
 * @throws Failure notReached when it did not come up; whatever else ends the wait names the rental, which goes on
 */
export async function awaitReady(cli: Cli, client: GpuRental, id: string): Promise<Rental> {
  const progress = new Progress(cli);
  const { gapMs } = cli;
  const seen: { rental: Rental | undefined } = { rental: undefined };
  const show = (): void => {
    const { rental } = seen;
    // The result says that it is ready, and more.
    if (rental && rental.phase !== 'ready') progress.update(phaseOf(rental), timesOf(rental, cli.now()));
  };
  cli.standing = goingOn(id, undefined);
  const timer = setInterval(show, 1_000);
  try {
    const ready = await client.rentals.waitUntilReady(id, {
      ...{ signal: cli.signal, gapMs },
      onGap: (error) => cli.tellGap(error),
      onPhase: (rental) => {
        seen.rental = rental;
        cli.standing = goingOn(id, rental);
        show();
      },
    });
    cli.standing = runs(ready);
    return ready;
  } catch (error) {
    progress.end();
    if (!(error instanceof RentalNotReadyError)) throw error;
    if (!error.timedOut) cli.standing = undefined;
    throw notReady(error);
  } finally {
    clearInterval(timer);
    progress.end();
  }
}

function phaseOf(rental: Rental): string {
  const what = rental.phase === null ? 'Getting the machine' : wordOf(phaseWords, rental.phase);
  const again = (rental.attempt ?? 1) > 1 ? ` (machine ${rental.attempt ?? 1})` : '';
  return `${what}${again}`;
}

function timesOf({ startedAt, expectedReadyAt }: Rental, nowMs: number): string {
  const waited = duration(secondsBetween(startedAt, nowMs));
  if (expectedReadyAt === null || Date.parse(expectedReadyAt) <= nowMs) return waited;
  return `${waited}, about ${duration(secondsBetween(nowMs, expectedReadyAt))} left`;
}

function notReady({ rental, timedOut }: RentalNotReadyError): Failure {
  const { id: rentalId, status, totalChargedCents: chargedCents } = rental;
  const details = { rentalId, status, chargedCents };
  if (timedOut) return new Failure('notReached', 'It is not ready yet.', undefined, { details });
  if (status === 'failed') {
    return new Failure(
      'notReached',
      rental.failure?.message ?? 'The machine did not start. You were not charged.',
      'You were not charged. Rent another one with: gpu rent',
      { details },
    );
  }
  return new Failure(
    'notReached',
    `${shortId(rentalId)} was stopped before it was ready. It cost ${usd(chargedCents)}.`,
    'Rent another one with: gpu rent',
    { details },
  );
}

/** A machine that is on its way, whoever waits for it. */
export function goingOn(id: string, rental: Rental | undefined): Standing {
  const price = rental === undefined ? '' : `, then ${usd(rental.pricePerHourCents)} an hour`;
  const phase = rental?.phase ?? undefined;
  const where = phase === undefined ? '' : ` (${wordOf(phaseWords, phase).toLowerCase()})`;
  return {
    details: { rentalId: id },
    message: `You have rented ${shortId(id)}, and it keeps starting without you${where}. It costs nothing until it is ready${price}.`,
    next: `Stop it with: gpu stop ${shortId(id)}. Or continue: gpu watch, gpu ssh ${shortId(id)}. Its id: ${id}`,
  };
}

/** A machine that runs, and costs. */
function runs({ id, pricePerHourCents }: Rental): Standing {
  return {
    details: { rentalId: id },
    message: `You have rented ${shortId(id)}. It is running, and costs ${usd(pricePerHourCents)} an hour from now on.`,
    next: `Stop it with: gpu stop ${shortId(id)}. Or log in: gpu ssh ${shortId(id)}. Its id: ${id}`,
  };
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
      `It costs ${usd(rental.pricePerHourCents)} an hour from now on, and stops ${limitsOf(rental)}.`,
    ),
    '',
    ...out.facts([
      ...endpointFacts(rental),
      ...(rental.host === null ? [] : ([['Log in', `gpu ssh ${short}`]] as const)),
      ['See its cost', 'gpu watch'],
      ['Stop it', `gpu stop ${short}`],
    ]),
  ];
}

/** What is said of a machine that is not waited for. */
export function rentedLines({ out }: Cli, rental: Rental): string[] {
  const short = shortId(rental.id);
  return [
    `Rented ${out.paint('bold', short)}: ${gpusOf(rental)} in ${rental.region}`,
    ...out.text(`It costs nothing until it is ready, then ${usd(rental.pricePerHourCents)} an hour.`),
    ...out.text(`Check progress: gpu show ${short}. Stop it: gpu stop ${short}`),
  ];
}
