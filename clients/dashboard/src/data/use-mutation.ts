// eslint-disable-next-line no-restricted-imports -- the one place
import { useMutation as useReactMutation, type UseMutationOptions } from '@tanstack/react-query';
import { useCallback, useRef } from 'react';

/**
 * React Query's `useMutation`, but one request for one press: what is asked for while the request before is under way
 * is not sent. React shows that it is under way a moment later, and a second press may come before that. Nor does its
 * answer wait for what `onSettled` reads anew: a secret that is shown once would be lost to whoever closes the form.
 */
export function useMutation<Data, Failure = Error, Variables = void, Before = unknown>(
  options: UseMutationOptions<Data, Failure, Variables, Before>,
) {
  const isUnderWay = useRef(false);
  const mutation = useReactMutation<Data, Failure, Variables, Before>({
    ...options,
    onSettled: (...outcome) => {
      isUnderWay.current = false;
      void options.onSettled?.(...outcome);
    },
  });
  const { mutate: send } = mutation;
  const mutate = useCallback<typeof send>(
    (...request) => {
      if (isUnderWay.current) return;
      isUnderWay.current = true;
      send(...request);
    },
    [send],
  );
  return { ...mutation, mutate };
}
