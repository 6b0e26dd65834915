import type { Rental } from '@gpu-rental/client';
import type { ReactNode } from 'react';
import { money } from '../../format/money.js';
import { span } from '../../format/time.js';
import { useServiceNow } from '../../live/service-clock.js';
import { idleTexts } from '../../texts/idle.js';
import { rentalTexts } from '../../texts/rentals.js';
import { Button } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { Money } from '../../ui/money.js';
import { Time } from '../../ui/time.js';
import { usedShare } from './cost-preview.js';
import { useCost } from './use-cost.js';

const texts = rentalTexts.limits;

interface LimitsCardProps {
  readonly rental: Rental;
  readonly onChange: () => void;
}

/** The limits, and what is left of them. */
export function LimitsCard({ rental, onChange }: LimitsCardProps) {
  const { autoStopAt, maxSpendCents, stopWhenIdleMinutes: idle, runningAt, status } = rental;
  return (
    <Card
      title={texts.title}
      aside={
        status !== 'stopping' && (
          <Button size="small" onClick={onChange}>
            {texts.change}
          </Button>
        )
      }
    >
      <div className="flex flex-col gap-4">
        <TimeLimit rental={rental} />
        <SpendLimit rental={rental} />
        {idle !== null && <Limit label={idleTexts.limit} value={idleTexts.after(span(idle * 60))} />}
        {(autoStopAt ?? maxSpendCents ?? idle) === null && runningAt !== null && (
          <p className="text-[13px] text-muted">{texts.noneText}</p>
        )}
      </div>
    </Card>
  );
}

function TimeLimit({ rental: { autoStopAt, runningAt, startedAt } }: { readonly rental: Rental }) {
  const now = useServiceNow();
  // A limit in hours has no instant before it runs, and nobody tells whether there is one.
  if (autoStopAt === null) {
    return <Limit label={texts.stopAt} value={runningAt === null ? texts.notYet : texts.none} />;
  }
  const [beganMs, stopMs] = [Date.parse(runningAt ?? startedAt), Date.parse(autoStopAt)];
  return (
    <Limit
      label={texts.stopAt}
      value={<Time at={autoStopAt} />}
      left={texts.left(span((stopMs - now) / 1_000))}
      share={usedShare(now - beganMs, stopMs - beganMs)}
    />
  );
}

function SpendLimit({ rental }: { readonly rental: Rental }) {
  const { maxSpendCents } = rental;
  const { chargedCents } = useCost(rental);
  if (maxSpendCents === null) return <Limit label={texts.spend} value={texts.none} />;
  return (
    <Limit
      label={texts.spend}
      value={<Money cents={maxSpendCents} />}
      left={texts.leftMoney(money(Math.max(0, maxSpendCents - chargedCents)))}
      share={usedShare(chargedCents, maxSpendCents)}
    />
  );
}

interface LimitProps {
  readonly label: string;
  readonly value: ReactNode;
  readonly left?: string;
  readonly share?: number;
}

function Limit({ label, value, left, share }: LimitProps) {
  return (
    <div>
      <div className="flex flex-wrap items-baseline justify-between gap-x-4">
        <span className="text-muted">{label}</span>
        <span className="text-right font-medium">
          {value}
          {left !== undefined && (
            <span className="block text-[13px] font-normal tabular text-muted">{left}</span>
          )}
        </span>
      </div>
      {share !== undefined && (
        <div
          role="progressbar"
          aria-label={texts.progress(label)}
          aria-valuenow={Math.round(share * 100)}
          aria-valuemin={0}
          aria-valuemax={100}
          className="mt-1.5 h-1.5 overflow-hidden rounded-full bg-sunken"
        >
          <div
            className={share >= 0.9 ? 'h-full rounded-full bg-warn' : 'h-full rounded-full bg-accent'}
            style={{ width: `${share * 100}%` }}
          />
        </div>
      )}
    </div>
  );
}
