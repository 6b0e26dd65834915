import { Link } from '@tanstack/react-router';
import { useBalance } from '../../live/hooks.js';
import { homeTexts } from '../../texts/home.js';
import { Badge } from '../../ui/badge.js';
import { buttonClasses } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { classes } from '../../ui/classes.js';
import { CheckIcon } from '../../ui/icons.js';

const t = homeTexts.steps;

interface Step {
  readonly to: '/app/keys' | '/app/billing' | '/app/rent';
  /** The form is open there. */
  readonly search?: { readonly add: true };
  readonly title: string;
  readonly text: string;
  readonly action: string;
  readonly isDone: boolean;
}

/** Leads to the first machine: what is done already is read from the service. */
export function FirstSteps({ keyCount }: { readonly keyCount: number | undefined }) {
  const balance = useBalance();
  const steps: readonly Step[] = [
    {
      to: '/app/keys',
      search: { add: true },
      title: t.key,
      text: t.keyText,
      action: t.key,
      isDone: (keyCount ?? 0) > 0,
    },
    {
      to: '/app/billing',
      title: t.money,
      text: t.moneyText,
      action: t.money,
      isDone: (balance?.availableCents ?? 0) > 0,
    },
    { to: '/app/rent', title: t.rent, text: t.rentText, action: t.rentAction, isDone: false },
  ];
  const isKnown = keyCount !== undefined && balance !== undefined;
  const next = isKnown ? steps.findIndex(({ isDone }) => !isDone) : -1;
  return (
    <Card title={t.title} isFlush>
      <ol className="divide-y divide-line">
        {steps.map((step, index) => (
          <StepRow key={step.to} step={step} no={index + 1} isNext={index === next} />
        ))}
      </ol>
    </Card>
  );
}

interface StepRowProps {
  readonly step: Step;
  readonly no: number;
  readonly isNext: boolean;
}

function StepRow({ step: { to, search, title, text, action, isDone }, no, isNext }: StepRowProps) {
  return (
    <li
      aria-current={isNext ? 'step' : undefined}
      className="grid grid-cols-[2rem_minmax(0,1fr)] items-center gap-x-3 gap-y-3 px-4 py-4 sm:grid-cols-[2rem_minmax(0,1fr)_auto]"
    >
      <span
        aria-hidden="true"
        className={classes(
          'flex size-7 items-center justify-center self-start rounded-full text-[13px] font-semibold tabular',
          isDone ? 'bg-good-soft text-good' : isNext ? 'bg-accent text-accent-ink' : 'bg-sunken text-muted',
        )}
      >
        {isDone ? <CheckIcon /> : no}
      </span>
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-2 font-medium">
          {title}
          {isDone && <Badge tone="good">{t.done}</Badge>}
        </p>
        <p className="text-[13px] text-muted">{text}</p>
      </div>
      {!isDone && (
        <Link
          to={to}
          search={search ?? {}}
          className={classes(
            buttonClasses(isNext ? 'primary' : 'secondary', 'small'),
            'col-start-2 sm:col-start-3',
          )}
        >
          {action}
        </Link>
      )}
    </li>
  );
}
