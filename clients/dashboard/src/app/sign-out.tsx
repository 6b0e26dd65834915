import { isApiError } from '@gpu-rental/client';
import { useSuspenseQuery } from '@tanstack/react-query';
import { meQuery } from '../data/account.js';
import { api } from '../data/client.js';
import { readableError } from '../data/errors.js';
import { useMutation } from '../data/use-mutation.js';
import { tellTabs } from '../live/channel.js';
import { shellTexts } from '../texts/shell.js';
import { useToasts } from './toasts.js';

/** Signs out: this tab hears of it as the others do, and all of them leave. */
export function useSignOut(): { readonly signOut: () => void; readonly isBusy: boolean } {
  const { data } = useSuspenseQuery(meQuery);
  const toasts = useToasts();
  const { mutate, isPending } = useMutation({
    mutationFn: () => {
      tellTabs(data.user.id, 'signing-out');
      return api.auth.logout();
    },
    onSuccess: () => tellTabs(data.user.id, 'signed-out'),
    onError: (error) => {
      // Without an answer the session may have ended all the same.
      if (isApiError(error)) tellTabs(data.user.id, 'signed-in');
      toasts.show({ tone: 'bad', title: shellTexts.signOutFailed, text: readableError(error).message });
    },
  });
  return { signOut: () => mutate(), isBusy: isPending };
}
