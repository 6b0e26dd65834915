import { ConnectionError, type Rental } from '@gpu-rental/client';
import { readableError } from '../../../data/errors.js';
import { money } from '../../../format/money.js';
import { stopManyTexts } from '../../../texts/stop.js';
import { shellTexts } from '../../../texts/shell.js';
import { Button } from '../../../ui/button.js';
import { Dialog } from '../../../ui/dialog.js';
import { classes } from '../../../ui/classes.js';
import { rentalTitle } from '../matching.js';
import { useCosts } from '../use-cost.js';
import { useStopMany, type Outcome } from './use-stop-many.js';

const texts = stopManyTexts;

interface StopManyDialogProps {
  /** As they were chosen. */
  readonly rentals: readonly Rental[];
  readonly onClose: () => void;
}

/** Asks once before machines are stopped, by their names and costs, and tells what became of each. */
export function StopManyDialog({ rentals, onClose }: StopManyDialogProps) {
  const { outcomes, isBusy, stop } = useStopMany();
  const isAsked = Object.keys(outcomes).length > 0;
  const failed = rentals.filter(({ id }) => outcomes[id]?.kind === 'failed');
  const isOver = isAsked && !isBusy;
  return (
    <Dialog
      isOpen
      // What became of each is told here and nowhere else.
      onClose={() => !isBusy && onClose()}
      title={texts.title(rentals.length)}
      description={texts.data}
      actions={
        <>
          <Button disabled={isBusy} onClick={onClose}>
            {isAsked ? shellTexts.close : shellTexts.cancel}
          </Button>
          {!isOver && (
            <Button look="danger" isBusy={isBusy} onClick={() => void stop(rentals)}>
              {texts.confirm(rentals.length)}
            </Button>
          )}
          {isOver && failed.length > 0 && (
            <Button look="danger" onClick={() => void stop(failed)}>
              {texts.again(failed.length)}
            </Button>
          )}
        </>
      }
    >
      <Machines rentals={rentals} outcomes={outcomes} isAsked={isAsked} />
      <p role="status" className="mt-3 font-medium empty:hidden">
        {isOver && summaryOf(rentals.length - failed.length, failed.length)}
      </p>
    </Dialog>
  );
}

function summaryOf(done: number, failed: number): string {
  return [...(done > 0 ? [texts.done(done)] : []), ...(failed > 0 ? [texts.left(failed)] : [])].join(' ');
}

interface MachinesProps {
  readonly rentals: readonly Rental[];
  readonly outcomes: Readonly<Record<string, Outcome>>;
  readonly isAsked: boolean;
}

function Machines({ rentals, outcomes, isAsked }: MachinesProps) {
  const costs = useCosts(rentals);
  const sum = costs.reduce((total, cents) => total + cents, 0);
  const rate = rentals.reduce((total, { pricePerHourCents }) => total + pricePerHourCents, 0);
  return (
    <>
      <ul aria-label={texts.machines} className="divide-y divide-line rounded-md border border-line">
        {rentals.map((rental, place) => {
          const outcome = outcomes[rental.id];
          return (
            <li key={rental.id} className="flex flex-wrap justify-between gap-x-4 px-3 py-2">
              <span className="min-w-0 font-medium break-words">{rentalTitle(rental)}</span>
              {outcome === undefined ? (
                <span className="tabular text-muted">{texts.soFar(money(costs[place] ?? 0))}</span>
              ) : (
                <OutcomeText outcome={outcome} />
              )}
            </li>
          );
        })}
      </ul>
      {!isAsked && <p className="mt-3 tabular">{texts.sum(money(sum), money(rate))}</p>}
    </>
  );
}

function OutcomeText({ outcome }: { readonly outcome: Outcome }) {
  const isFailed = outcome.kind === 'failed';
  return (
    <span className={classes('min-w-0 tabular break-words', isFailed ? 'text-bad' : 'text-soft')}>
      {outcomeText(outcome)}
    </span>
  );
}

function outcomeText(outcome: Outcome): string {
  if (outcome.kind === 'failed') {
    const { message } = readableError(outcome.error);
    return outcome.error instanceof ConnectionError ? texts.unknown(message) : texts.failed(message);
  }
  if (outcome.kind === 'already') return texts.already;
  if (outcome.kind !== 'stopped') return texts[outcome.kind];
  const { finalChargedCents, refundedCents } = outcome.answer;
  if (finalChargedCents === null || refundedCents === null) return texts.stopped;
  return texts.stoppedText(money(finalChargedCents), money(refundedCents));
}
