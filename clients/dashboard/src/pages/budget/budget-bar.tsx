import { percent } from '../../format/number.js';
import { budgetTexts as t } from '../../texts/budget.js';
import { classes } from '../../ui/classes.js';
import type { BudgetShares } from './budget-form.js';

interface BudgetBarProps extends BudgetShares {
  /** The shares at which somebody is told. */
  readonly marks: readonly number[];
}

/** How much of the budget is spent, what is reserved behind it, and where somebody is told. */
export function BudgetBar({ spent, reserved, marks }: BudgetBarProps) {
  return (
    <div>
      <div
        role="meter"
        aria-label={t.bar}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.min(100, spent)}
        aria-valuetext={t.percent(percent(spent / 100))}
        className="relative flex h-3 overflow-hidden rounded-full border border-line bg-sunken"
      >
        <span className={classes('h-full', toneOf(spent))} style={{ width: `${Math.min(100, spent)}%` }} />
        <span className="h-full bg-line-strong" style={{ width: `${reserved}%` }} />
        {marks
          .filter((mark) => mark < 100)
          .map((mark) => (
            <span
              key={mark}
              aria-hidden="true"
              className="absolute inset-y-0 w-px bg-ink/50"
              style={{ left: `${mark}%` }}
            />
          ))}
      </div>
      <div aria-hidden="true" className="relative mt-1 h-4 text-xs text-muted tabular">
        {marks.map((mark) => (
          <span
            key={mark}
            className={classes('absolute', mark < 100 && '-translate-x-1/2')}
            style={mark < 100 ? { left: `${mark}%` } : { right: 0 }}
          >
            {percent(mark / 100)}
          </span>
        ))}
      </div>
    </div>
  );
}

function toneOf(spent: number): string {
  if (spent >= 100) return 'bg-bad';
  return spent >= 80 ? 'bg-warn' : 'bg-accent';
}
