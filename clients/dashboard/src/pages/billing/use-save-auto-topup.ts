import { useQueryClient } from '@tanstack/react-query';
import { autoTopupQuery, saveAutoTopup } from '../../data/auto-topup.js';
import { useMutation } from '../../data/use-mutation.js';

/** Stores how the card is charged by itself; what the service answers is what is shown. */
export function useSaveAutoTopup() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: saveAutoTopup,
    onSuccess: (stored) => {
      client.setQueryData(autoTopupQuery.queryKey, stored);
    },
    onError: () => void client.invalidateQueries({ queryKey: ['autoTopup'] }),
  });
}

export type SaveAutoTopup = ReturnType<typeof useSaveAutoTopup>;
