import { newIdempotencyKey, type ChangeRental } from '@gpu-rental/client';
import { hashKey, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { useToasts } from '../../../app/toasts.js';
import { isRefused } from '../../../data/outcome.js';
import { changeRental, rentalQuery } from '../../../data/rentals.js';
import { useMutation } from '../../../data/use-mutation.js';

/**
 * Sends changes of a rental. The same change is sent again under the same key; one that changes nothing is not sent.
 * @param saved what is told when it is done
 */
export function useChange(rentalId: string, saved: string, onDone: () => void) {
  const queryClient = useQueryClient();
  const toasts = useToasts();
  const sent = useRef<{ readonly body: string; readonly key: string }>(undefined);
  const { mutate, isPending, error } = useMutation({
    mutationFn: (change: ChangeRental) => {
      const body = hashKey([change]);
      if (sent.current?.body !== body) sent.current = { body, key: newIdempotencyKey() };
      return changeRental(rentalId, change, sent.current.key);
    },
    onSuccess: (rental) => {
      queryClient.setQueryData(rentalQuery(rentalId).queryKey, rental);
      void queryClient.invalidateQueries({ queryKey: ['rentals'] });
      toasts.show({ tone: 'good', title: saved });
    },
    // A key gives its first answer again: what was refused takes another one.
    onError: (failure) => {
      if (isRefused(failure)) sent.current = undefined;
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: rentalQuery(rentalId).queryKey }),
  });
  return {
    send: (change: ChangeRental) =>
      Object.keys(change).length === 0 ? onDone() : mutate(change, { onSuccess: onDone }),
    isPending,
    error,
  };
}
