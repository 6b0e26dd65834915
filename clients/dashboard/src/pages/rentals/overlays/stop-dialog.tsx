import { isApiError, type Rental } from '@gpu-rental/client';
import { useQueryClient } from '@tanstack/react-query';
import { useToasts } from '../../../app/toasts.js';
import { stopRental } from '../../../data/rentals.js';
import { useMutation } from '../../../data/use-mutation.js';
import { money } from '../../../format/money.js';
import { stopTexts } from '../../../texts/stop.js';
import { ConfirmDialog } from '../../../ui/confirm-dialog.js';
import { rentalTitle } from '../matching.js';
import { useFullCost } from '../use-cost.js';

const texts = stopTexts;

interface StopDialogProps {
  readonly rental: Rental;
  readonly onClose: () => void;
}

/** Asks once before a machine is stopped: what it will have cost, and that its data is lost. */
export function StopDialog({ rental, onClose }: StopDialogProps) {
  const queryClient = useQueryClient();
  const toasts = useToasts();
  const { chargedCents, heldCents } = useFullCost(rental);
  const title = rentalTitle(rental);
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => stopRental(rental.id),
    onSuccess: ({ finalChargedCents, refundedCents }) => {
      toasts.show({
        tone: 'good',
        title: texts.stopped(title),
        ...(finalChargedCents !== null &&
          refundedCents !== null && {
            text: texts.stoppedText(money(finalChargedCents), money(refundedCents)),
          }),
      });
      onClose();
    },
    onError: (failure) => {
      // Somebody else was faster: what this asks for has come about.
      if (isApiError(failure, 'already_stopped')) onClose();
    },
    onSettled: () =>
      Promise.all(
        [['rental', rental.id], ['rentals'], ['charges', rental.id], ['balance']].map((queryKey) =>
          queryClient.invalidateQueries({ queryKey }),
        ),
      ),
  });
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={texts.title(title)}
      description={texts.data}
      confirm={texts.confirm}
      onConfirm={() => mutate()}
      isBusy={isPending}
      error={error}
    >
      <ul className="flex list-disc flex-col gap-1 pl-5">
        {rental.runningAt === null ? (
          <li>{texts.nothing}</li>
        ) : (
          <li className="tabular">
            <strong>{texts.cost(money(chargedCents))}</strong> {texts.costRule}
          </li>
        )}
        {heldCents !== undefined && heldCents > 0 && (
          <li className="tabular">{texts.hold(money(heldCents))}</li>
        )}
      </ul>
    </ConfirmDialog>
  );
}
