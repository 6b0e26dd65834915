import type { Budget } from '@gpu-rental/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { budgetQuery } from '../../data/budget.js';
import { money } from '../../format/money.js';
import { listed, percent } from '../../format/number.js';
import { monthName, utcDay } from '../../format/time.js';
import { budgetTexts as t } from '../../texts/budget.js';
import { shellTexts } from '../../texts/shell.js';
import { Badge } from '../../ui/badge.js';
import { buttonClasses } from '../../ui/button.js';
import { Card, Stat } from '../../ui/card.js';
import { Money } from '../../ui/money.js';
import { Page } from '../../ui/page.js';
import { ErrorNote, Skeleton } from '../../ui/states.js';
import { BudgetBar } from './budget-bar.js';
import { sharesOf } from './budget-form.js';
import { BudgetSettings } from './budget-settings.js';

/** What the rentals of a month may cost: how it stands, and how it is set. */
export function BudgetPage() {
  const { data: budget, error, refetch } = useQuery(budgetQuery);
  return (
    <Page
      title={shellTexts.pages.budget}
      lead={t.lead}
      actions={
        <Link to="/app/api-keys" className={buttonClasses('secondary', 'small')}>
          {t.keys}
        </Link>
      }
    >
      {error && budget === undefined && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {budget === undefined && !error && (
        <div className="flex max-w-3xl flex-col gap-5 3xl:grid 3xl:max-w-none 3xl:grid-cols-2 3xl:items-start">
          <Skeleton className="h-52 w-full" />
          <Skeleton className="h-80 w-full" />
        </div>
      )}
      {budget && (
        <div className="flex max-w-3xl flex-col gap-5 3xl:grid 3xl:max-w-none 3xl:grid-cols-2 3xl:items-start">
          <Standing budget={budget} />
          <BudgetSettings budget={budget} />
        </div>
      )}
    </Page>
  );
}

/** How the present month stands. */
function Standing({ budget }: { readonly budget: Budget }) {
  const { monthlyCents, hard, month, monthEndsAt, spentCents, reservedCents, alertPercents } = budget;
  const overCents = monthlyCents === null ? 0 : spentCents - monthlyCents;
  return (
    <Card
      title={t.title(monthName(month))}
      aside={
        monthlyCents !== null && <Badge tone={hard ? 'info' : 'neutral'}>{hard ? t.hard : t.soft}</Badge>
      }
    >
      <div className="flex flex-col gap-4">
        <dl className="grid grid-cols-[repeat(auto-fit,minmax(8.5rem,1fr))] gap-x-6 gap-y-4">
          <Stat
            label={t.spent}
            value={<Money cents={spentCents} className="text-2xl" />}
            note={monthlyCents === null ? undefined : t.of(money(monthlyCents))}
          />
          <Stat label={t.reserved} value={<Money cents={reservedCents} />} note={t.reservedNote} />
          {overCents > 0 && <Stat label={t.over} value={<Money cents={overCents} className="text-bad" />} />}
          {overCents <= 0 && budget.leftCents !== null && (
            <Stat label={t.left} value={<Money cents={budget.leftCents} />} />
          )}
        </dl>
        {monthlyCents === null ? (
          <div>
            <p className="font-medium">{t.none}</p>
            <p className="text-muted">{t.noneWhy}</p>
          </div>
        ) : (
          <>
            <BudgetBar {...sharesOf(spentCents, reservedCents, monthlyCents)} marks={alertPercents} />
            <p className="text-[13px] text-muted">
              {t.told(listed(alertPercents.map((mark) => percent(mark / 100))))} {t.next(utcDay(monthEndsAt))}
            </p>
          </>
        )}
      </div>
    </Card>
  );
}
