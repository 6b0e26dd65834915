import { formatUsd } from '../../domain/money.js';
import type { RentalStatus } from '../../domain/rentals/rental.js';
import { tell, waitFor, type Stage } from './stage.js';
import { claim, StoryError } from './story-error.js';

/** The fields of GET /v1/rentals/:id that the story needs. */
export interface Rental {
  readonly id: string;
  readonly status: RentalStatus;
  readonly gpuCount: number;
  readonly model: string;
  readonly region: string;
  readonly pricePerHourCents: number;
  readonly host: string | null;
  readonly port: number | null;
  readonly username: string | null;
  readonly hostKeyFingerprint: string | null;
  readonly startedAt: string;
  readonly runningAt: string | null;
  readonly stoppedAt: string | null;
  readonly maxSpendCents: number | null;
  readonly totalChargedCents: number;
  readonly error: string | null;
}

/** The request for a rental. */
export interface Wish {
  readonly familyId: string;
  readonly gpuCount: number;
}

/** Rents the cheapest machine that meets the wish; the wallet then holds the price of one hour. */
export async function rent(stage: Stage, wish: Wish): Promise<Rental> {
  const { id } = (await stage.api.post('/v1/rentals', { ...wish, name: 'demo' })) as { id: string };
  const rental = await readRental(stage, id);
  tell(
    stage,
    `${id}: ${rental.gpuCount} x ${rental.model} in ${rental.region} for ${formatUsd(rental.pricePerHourCents)} an hour`,
  );
  return rental;
}

/** Waits until the machine's SSH daemon answers, and prints its state every two seconds. */
export async function awaitMachine(stage: Stage, id: string): Promise<Rental> {
  return waitFor(
    stage,
    {
      what: 'running machine',
      limitMs: 60_000,
      everyMs: 2000,
      advice: `See the workflow ${id} in the Temporal UI and the GPU provider's log.`,
    },
    async () => {
      const rental = await readRental(stage, id);
      const seconds = ((Date.now() - Date.parse(rental.startedAt)) / 1000).toFixed(0);
      tell(stage, `${rental.status} after ${seconds} s`);
      if (rental.status === 'provisioning') return undefined;
      claim(
        rental.status === 'running',
        `the rental is ${rental.status}: ${rental.error ?? 'no reason given'}. See the GPU provider's log.`,
      );
      return rental;
    },
  );
}

/** The newest rental of the user. */
export async function readNewest(stage: Stage): Promise<Rental> {
  const { rentals } = (await stage.api.get('/v1/rentals?pageSize=1')) as { rentals: Rental[] };
  claim(rentals[0] !== undefined, 'GET /v1/rentals shows none.');
  return rentals[0];
}

/** Stops the rental and waits until it has ended. */
export async function stop(stage: Stage, id: string): Promise<Rental> {
  const answer = (await stage.api.post(`/v1/rentals/${id}/stop`, {})) as {
    finalChargedCents: number | null;
    refundedCents: number | null;
  };
  tell(stage, stopWords(answer.finalChargedCents, answer.refundedCents));
  const ended = await awaitEnd(stage, id);
  const { finalChargedCents } = answer;
  claim(
    [null, ended.totalChargedCents].includes(finalChargedCents),
    `the stop was answered with ${finalChargedCents ?? 'no'} cents, but the rental shows ${ended.totalChargedCents}.`,
  );
  return ended;
}

/** Waits until the machine is gone at the provider and its charges are settled. */
export async function awaitEnd(stage: Stage, id: string): Promise<Rental> {
  const ended = await waitFor(
    stage,
    {
      what: 'end of the machine',
      limitMs: 30_000,
      everyMs: 500,
      advice: `See the workflow ${id} in the Temporal UI: it ends the machine at the provider.`,
    },
    async () => {
      const rental = await readRental(stage, id);
      return rental.status === 'stopped' ? rental : undefined;
    },
  );
  tell(stage, 'the provider shows the machine gone');
  return ended;
}

/** Stops the user's rentals after the story broke off: an unused machine would go on costing money. */
export async function stopAll(stage: Stage): Promise<void> {
  try {
    const { rentals } = (await stage.api.get('/v1/rentals')) as { rentals: Rental[] };
    for (const { id } of rentals.filter(({ status }) => ['provisioning', 'running'].includes(status))) {
      await stage.api.post(`/v1/rentals/${id}/stop`, {});
      tell(stage, `${id} was stopped, so that it costs nothing more`);
    }
  } catch (error) {
    if (!(error instanceof StoryError)) throw error;
    tell(stage, `What is still rented could not be stopped: ${error.message}`);
  }
}

/** The amounts are null while the settlement takes longer than the API waits (decision 15, "Stopping a rental"). */
function stopWords(finalChargedCents: number | null, refundedCents: number | null): string {
  if (finalChargedCents === null || refundedCents === null) return 'taken on; it is being settled';
  return `charged ${formatUsd(finalChargedCents)}; ${formatUsd(refundedCents)} of the hold were given back`;
}

async function readRental(stage: Stage, id: string): Promise<Rental> {
  return (await stage.api.get(`/v1/rentals/${id}`)) as Rental;
}
