import type { Spending } from '@gpu-rental/client';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { firstEntryQuery } from '../../data/ledger.js';
import { spendingQuery } from '../../data/statements.js';
import { familyName } from '../../format/machine.js';
import { utcDay } from '../../format/time.js';
import { useServiceNow } from '../../live/service-clock.js';
import { ledgerTexts } from '../../texts/ledger.js';
import { rentalTexts } from '../../texts/rentals.js';
import { Button } from '../../ui/button.js';
import { Card, Stat } from '../../ui/card.js';
import { Money } from '../../ui/money.js';
import { Segmented } from '../../ui/segmented.js';
import { EmptyState, ErrorNote, Skeleton } from '../../ui/states.js';
import { useHeld } from '../../ui/use-held.js';
import { NoEntries } from './no-entries.js';
import { readLedgerSearch, type LedgerSearch } from './search.js';
import { SpendingChart } from './spending-chart.js';
import { chartOf } from './spending-chart-data.js';
import { SpendingDays } from './spending-days.js';
import { DEFAULT_SPAN_DAYS, spanDays, spendingSpan, type SpendingSpan } from './spending-span.js';

const texts = ledgerTexts.spending;

/** How often the days are read while today is one of them. */
const EVERY_MS = 60_000;

/** What days were spent on: a chart, and each day with its rentals. */
export function SpendingView({ search }: { readonly search: LedgerSearch }) {
  const span = spendingSpan(search.until, useServiceNow(EVERY_MS), search.days);
  const { data: first, error: firstError } = useQuery(firstEntryQuery);
  const { data, error, refetch } = useQuery({
    ...spendingQuery(span.from, span.to),
    refetchInterval: span.endsToday && EVERY_MS,
  });
  if (first === null) {
    return (
      <Card>
        <NoEntries />
      </Card>
    );
  }
  const isOldest = first !== undefined && first.createdAt >= span.from;
  return (
    <>
      {error !== null && <ErrorNote error={error} onRetry={() => void refetch()} />}
      <Card
        title={texts.title}
        aside={<Steps {...{ search, span }} isOldest={isOldest && firstError === null} />}
      >
        {data === undefined ? (
          error === null && <Skeleton className="h-72 w-full" />
        ) : (
          <Overview spending={data} span={span} />
        )}
      </Card>
      {data !== undefined && <Days key={`${span.from} ${span.to}`} spending={data} />}
    </>
  );
}

const choices = spanDays.map((days) => ({ value: `${days}` as const, label: texts.days(days) }));

interface StepsProps {
  readonly search: LedgerSearch;
  readonly span: SpendingSpan;
  readonly isOldest: boolean;
}

/** Chooses how many days are shown, and leads to those before and after. */
function Steps({ search, span, isOldest }: StepsProps) {
  const navigate = useNavigate({ from: '/app/ledger' });
  const show = (to: { until?: string | undefined; days?: number | undefined }): void =>
    void navigate({ search: readLedgerSearch({ ...search, ...to }), resetScroll: false });
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Segmented
        label={texts.spanOf}
        value={`${search.days ?? DEFAULT_SPAN_DAYS}`}
        options={choices}
        onChange={(days) => show({ days: Number(days) })}
        className="w-44"
      />
      <Button size="small" disabled={isOldest} onClick={() => show({ until: span.earlier })}>
        {texts.earlier}
      </Button>
      <Button size="small" disabled={span.endsToday} onClick={() => show({ until: span.later })}>
        {texts.later}
      </Button>
    </div>
  );
}

interface OverviewProps {
  readonly spending: Spending;
  readonly span: SpendingSpan;
}

function Overview({ spending, span }: OverviewProps) {
  const chart = chartOf(spending, span, ({ gpuCount, family }) =>
    rentalTexts.machine(gpuCount, familyName(family)),
  );
  const sum = (of: (day: Spending['days'][number]) => number): number =>
    spending.days.reduce((total, day) => total + of(day), 0);
  const refundedCents = sum(({ refundedCents }) => refundedCents);
  const lastDay = chart.days.at(-1)?.from ?? span.from;
  return (
    <>
      <dl className="mb-4 flex flex-wrap gap-x-10 gap-y-3">
        <Stat
          label={texts.spent}
          value={<Money cents={sum(({ chargedCents }) => chargedCents)} />}
          note={texts.span(utcDay(span.from), utcDay(lastDay))}
          className="max-sm:basis-full"
        />
        {refundedCents !== 0 && <Stat label={texts.refunded} value={<Money cents={refundedCents} />} />}
        <Stat
          label={span.endsToday ? texts.balanceNow : texts.balanceThen}
          value={<Money cents={spending.closingBalanceCents} />}
        />
      </dl>
      <SpendingChart chart={chart} />
    </>
  );
}

/** The days, which stand still while somebody points at them or has the focus in them. */
function Days({ spending }: { readonly spending: Spending }) {
  const { isHeld, hold } = useHeld();
  const frame = useRef<HTMLDivElement>(null);
  const [shown, setShown] = useState(spending);
  if (!isHeld && shown !== spending) setShown(spending);
  const days = shown.days.filter(({ rentals }) => rentals.length > 0).toReversed();
  return (
    <div ref={frame} tabIndex={-1} className="outline-none" {...hold}>
      <Card
        title={texts.byDay}
        aside={
          shown !== spending && (
            <Button
              size="small"
              onClick={() => {
                setShown(spending);
                // The button goes, and the focus must not go with it.
                frame.current?.focus({ preventScroll: true });
              }}
            >
              {texts.update}
            </Button>
          )
        }
        isFlush
      >
        {days.length === 0 ? <EmptyState title={texts.none} /> : <SpendingDays days={days} />}
      </Card>
    </div>
  );
}
