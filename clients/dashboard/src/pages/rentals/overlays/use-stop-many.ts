import { isApiError, type Rental, type StoppedRental } from '@gpu-rental/client';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { stopRental } from '../../../data/rentals.js';

/** What became of one stop. */
export type Outcome =
  | { readonly kind: 'waiting' | 'stopping' }
  | { readonly kind: 'stopped' | 'already'; readonly answer: Omit<StoppedRental, 'id'> }
  | { readonly kind: 'failed'; readonly error: unknown };

/** The service answers this many requests of one person at a time. */
const AT_ONCE = 4;

const changed = [['rentals'], ['rental'], ['charges'], ['balance']] as const;

/** Stops several machines, each by one request. The others go on where one fails. */
export function useStopMany() {
  const queryClient = useQueryClient();
  const [outcomes, setOutcomes] = useState<Readonly<Record<string, Outcome>>>({});
  const [isBusy, setIsBusy] = useState(false);
  const tell = (id: string, outcome: Outcome): void =>
    setOutcomes((before) => ({ ...before, [id]: outcome }));

  async function stop(rentals: readonly Rental[]): Promise<void> {
    setIsBusy(true);
    for (const { id } of rentals) tell(id, { kind: 'waiting' });
    const left = rentals.map(({ id }) => id);
    const work = async (): Promise<void> => {
      for (let id = left.shift(); id !== undefined; id = left.shift()) {
        tell(id, { kind: 'stopping' });
        tell(id, await stopOne(id));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    setIsBusy(false);
    await Promise.all(changed.map((queryKey) => queryClient.invalidateQueries({ queryKey })));
  }
  return { outcomes, isBusy, stop };
}

async function stopOne(id: string): Promise<Outcome> {
  try {
    return { kind: 'stopped', answer: await stopRental(id) };
  } catch (error) {
    // Somebody else was faster: what this asks for has come about.
    if (isApiError(error, 'already_stopped')) return { kind: 'already', answer: error.details };
    return { kind: 'failed', error };
  }
}
