import type { components } from '@gpu-rental/client';
import { queryOptions, useQueryClient } from '@tanstack/react-query';
import { api } from './client.js';
import { useMutation } from './use-mutation.js';

export type Notice = components['schemas']['Notice'];

/** Which mails are sent. */
export const noticesQuery = queryOptions({
  queryKey: ['notices'],
  queryFn: ({ signal }) => api.notices.get({ signal }),
});

/** Switches mails of one kind on or off. */
export function useSwitchNotice(kind: Notice['kind']) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (on: boolean) => api.notices.save({ kinds: { [kind]: on } }),
    onSuccess: async (settings) => {
      // A list that is on its way may be older than this answer.
      await queryClient.cancelQueries({ queryKey: noticesQuery.queryKey });
      queryClient.setQueryData(noticesQuery.queryKey, settings);
    },
  });
}
