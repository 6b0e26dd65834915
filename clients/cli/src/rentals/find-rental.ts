import type { GpuRental, Rental } from '@gpu-rental/client';
import type { Cli } from '../cli.js';
import { Failure, usageFailure } from '../failure.js';
import { guessOf } from '../output/similar.js';
import { gpusOf, isLive, nameOf, shortId, stateOf } from '../views/rental.js';

/** How far back a name or the end of an id is looked for. */
const lookBack = 500;

/**
 * Finds the rental that is meant: by its id, the end of its id, or its name, or, when nothing is said, the only one
 * that lives.
 * @param verb what is going to be done, for the question: "enter"
 * @param timeoutMs how long the service may take, where there is another way without it
 */
export async function findRental(
  cli: Cli,
  client: GpuRental,
  given: string | undefined,
  verb: string,
  timeoutMs?: number,
): Promise<Rental> {
  const options = { signal: cli.signal, timeoutMs };
  if (given !== undefined && /^rent_[0-9A-Z]{26}$/i.test(given)) {
    return client.rentals.get(`rent_${given.slice(5).toUpperCase()}`, options);
  }
  const rentals = await client.rentals.list({ pageSize: 200 }, options).toArray(lookBack);
  const live = rentals.filter(isLive);
  if (given === undefined) return onlyOf(cli, live, verb);
  const meant = [live, rentals].map((some) => some.filter((rental) => isMeant(rental, given)));
  const found = meant.find((some) => some.length > 0);
  if (found === undefined) {
    const among =
      rentals.length < lookBack ? 'You have no rental' : `None of your newest ${lookBack} rentals is`;
    const guess = guessOf(
      given,
      live.flatMap(({ name }) => (name === null ? [] : [name])),
    );
    throw new Failure(
      'notFound',
      `${among} "${given}".`,
      `${guess ?? 'Use its full id.'} See your rentals with: gpu ls --all`,
    );
  }
  return onlyOf(cli, found, verb);
}

/** Tells whether a name, an id or the end of one means a rental. */
export function isMeant({ id, name }: Pick<Rental, 'id' | 'name'>, given: string): boolean {
  return name === given || (given.length >= 4 && id.toUpperCase().endsWith(given.toUpperCase()));
}

async function onlyOf(cli: Cli, rentals: readonly Rental[], verb: string): Promise<Rental> {
  const [first, ...others] = rentals;
  if (!first) {
    throw new Failure('notFound', 'You have no machines now.', 'Rent one with: gpu rent');
  }
  if (others.length === 0) return first;
  if (!cli.asking.canAsk || cli.out.isJson) {
    const names = rentals
      .map((rental) => `${shortId(rental.id)} (${rental.name ?? gpusOf(rental)})`)
      .join(', ');
    throw usageFailure('You have more than one machine.', `Name one of them: ${names}`);
  }
  const id = await cli.asking.choice(
    {
      message: `Which machine do you want to ${verb}?`,
      otherwise: 'Name the machine.',
      givenUp: 'Nothing was changed.',
    },
    rentals.map((rental) => ({
      value: rental.id,
      label: `${shortId(rental.id)}  ${gpusOf(rental)}, ${stateOf(rental)}`,
      ...(rental.name !== null && { hint: nameOf(rental) }),
    })),
  );
  return rentals.find((rental) => rental.id === id) ?? first;
}
