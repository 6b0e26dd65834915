import { lookUp, type Rental, type RentalPhase } from '@gpu-rental/client';
import { ago, fullTime, span } from '../../format/time.js';
import { useServiceNow } from '../../live/service-clock.js';
import { rentalTexts } from '../../texts/rentals.js';
import { Card } from '../../ui/card.js';
import { classes } from '../../ui/classes.js';
import { Spinner } from '../../ui/button.js';
import { CheckIcon } from '../../ui/icons.js';
import { freeText, phaseName, phaseSteps, type PhaseState } from './phase-steps.js';

const texts = rentalTexts.phases;

const explained: Readonly<Record<RentalPhase, string>> = {
  queued: texts.queuedText,
  buying: texts.buyingText,
  booting: texts.bootingText,
  installing: texts.installingText,
  checking: texts.checkingText,
  ready: texts.readyText,
};

interface TimelineProps {
  readonly rental: Rental & { readonly phase: RentalPhase };
}

/** How far a machine is, and when it will be ready. */
export function Timeline({ rental }: TimelineProps) {
  const { phase, attempt } = rental;
  return (
    <Card title={texts.title}>
      <ol className="flex flex-col gap-3 sm:flex-row sm:gap-0">
        {phaseSteps(phase).map((step, index) => (
          <Step key={step.phase} {...step} isFirst={index === 0} />
        ))}
      </ol>
      <p role="status" className="mt-4 font-medium">
        {lookUp(explained, phase) ?? phaseName(phase)}
      </p>
      <Waiting rental={rental} />
      {attempt !== null && attempt > 1 && <p className="mt-1 text-muted">{texts.attempt(attempt)}</p>}
      <p className="mt-1 text-[13px] text-muted">{freeText(rental)}</p>
    </Card>
  );
}

/** How long it has been in its phase, and when it is usually ready; this ticks. */
function Waiting({ rental: { phaseSince, expectedReadyAt } }: { readonly rental: Rental }) {
  const now = useServiceNow();
  const isLate = expectedReadyAt !== null && Date.parse(expectedReadyAt) < now;
  return (
    <p className="mt-1 flex flex-wrap gap-x-3 text-muted">
      {phaseSince !== null && (
        <time dateTime={phaseSince} title={fullTime(phaseSince)} className="tabular">
          {texts.since(span((now - Date.parse(phaseSince)) / 1_000))}
        </time>
      )}
      {expectedReadyAt !== null && (
        <time dateTime={expectedReadyAt} title={fullTime(expectedReadyAt)} className="tabular">
          {isLate ? texts.expectedLate : texts.expected(ago(expectedReadyAt, now))}
        </time>
      )}
    </p>
  );
}

interface StepProps {
  readonly phase: RentalPhase;
  readonly state: PhaseState;
  readonly isFirst: boolean;
}

function Step({ phase, state, isFirst }: StepProps) {
  return (
    <li
      aria-current={state === 'now' ? 'step' : undefined}
      className="relative flex flex-1 items-center gap-3 sm:flex-col sm:gap-1.5"
    >
      {!isFirst && (
        <span
          aria-hidden="true"
          className={classes(
            'absolute -top-3 left-3 h-3 w-0.5 sm:top-3 sm:right-[calc(50%+0.75rem)] sm:left-[calc(-50%+0.75rem)] sm:h-0.5 sm:w-auto',
            state === 'ahead' ? 'bg-line' : 'bg-accent',
          )}
        />
      )}
      <Mark state={state} />
      <span className={classes('text-[13px]', state === 'ahead' ? 'text-muted' : 'font-medium')}>
        {phaseName(phase)}
        {state !== 'ahead' && (
          <span className="sr-only">{`: ${state === 'done' ? texts.done : texts.now}`}</span>
        )}
      </span>
    </li>
  );
}

const marks: Readonly<Record<PhaseState, string>> = {
  done: 'border-transparent bg-accent text-accent-ink',
  now: 'border-accent text-accent',
  ahead: 'border-line-strong',
};

function Mark({ state }: { readonly state: PhaseState }) {
  return (
    <span
      aria-hidden="true"
      className={classes(
        'flex size-6 shrink-0 items-center justify-center rounded-full border',
        marks[state],
      )}
    >
      {state === 'done' && <CheckIcon className="size-3.5" />}
      {state === 'now' && <Spinner className="size-3" />}
    </span>
  );
}
