import { useQueryClient } from '@tanstack/react-query';
import { rentalQuery } from '../../../data/rentals.js';
import { keepAlive } from '../../../data/usage.js';
import { useMutation } from '../../../data/use-mutation.js';
import { shortTime } from '../../../format/time.js';
import { serviceTimeAt } from '../../../live/service-clock.js';
import { usageTexts as texts } from '../../../texts/usage.js';
import { Callout } from '../../../ui/badge.js';
import { Button } from '../../../ui/button.js';
import { ErrorNote } from '../../../ui/states.js';

const KEEP_MS = 2 * 3_600_000;

interface IdleNoticeProps {
  readonly id: string;
  readonly stopsAt: string;
}

/** That an idle machine stops soon, with the way to keep it. */
export function IdleNotice({ id, stopsAt }: IdleNoticeProps) {
  const queryClient = useQueryClient();
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => keepAlive(id, new Date(serviceTimeAt(Date.now()) + KEEP_MS)),
    onSuccess: (kept) => queryClient.setQueryData(rentalQuery(id).queryKey, kept),
  });
  return (
    <Callout
      role="alert"
      tone="warn"
      title={texts.idle}
      actions={
        <Button size="small" onClick={() => mutate()} disabled={isPending}>
          {isPending ? texts.keeping : texts.keep}
        </Button>
      }
    >
      {texts.idleText(shortTime(stopsAt))}
      {error && <ErrorNote error={error} onRetry={() => mutate()} />}
    </Callout>
  );
}
