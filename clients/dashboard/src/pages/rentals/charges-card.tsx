import type { Charges, Rental } from '@gpu-rental/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Suspense, useMemo } from 'react';
import { chargesQuery, isLive } from '../../data/rentals.js';
import { centsOf, money } from '../../format/money.js';
import { DAY_MS } from '../../format/months.js';
import { span } from '../../format/time.js';
import { serviceTimeAt, useServiceNow } from '../../live/service-clock.js';
import { rentalTexts } from '../../texts/rentals.js';
import { Card } from '../../ui/card.js';
import { lazyPart } from '../../ui/lazy-part.js';
import { Money } from '../../ui/money.js';
import { ErrorNote, Skeleton } from '../../ui/states.js';
import { Table, Td, Th } from '../../ui/table.js';
import { Time } from '../../ui/time.js';
import { chargePoints } from './charge-points.js';
import { secondsToLimit } from './cost-preview.js';
import { useCost } from './use-cost.js';

const texts = rentalTexts.charges;
const DAYS_BY_HOUR = 14;
/** How often the charges of a machine that runs are read. */
const EVERY_MS = 30_000;
/** The same until the first cent. */
const FIRST_EVERY_MS = 3_000;

const CostChart = lazyPart(() => import('./cost-chart.js'), 'CostChart');

/** What it cost over time: a line, and the same as a table. */
export function ChargesCard({ rental }: { readonly rental: Rental }) {
  const isBilled = rental.runningAt !== null;
  // What never ran has no course: its hold was charged and given back in one.
  if (!isBilled && !isLive(rental)) return null;
  return (
    <Card
      title={texts.title}
      aside={
        <Link
          to="/app/ledger"
          search={{ rental: rental.id }}
          className="text-[13px] text-accent hover:underline"
        >
          {texts.entries}
        </Link>
      }
    >
      {isBilled ? <ReadCharges rental={rental} /> : <NoneYet rental={rental} />}
    </Card>
  );
}

function ReadCharges({ rental }: { readonly rental: Rental }) {
  const { data, error, refetch, dataUpdatedAt } = useQuery({
    ...chargesQuery(rental.id, intervalOf(rental)),
    refetchInterval: ({ state }) =>
      rental.status === 'running' && (state.data?.charges.length === 0 ? FIRST_EVERY_MS : EVERY_MS),
  });
  if (error && !data) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton className="h-56 w-full" />;
  if (data.charges.length === 0) {
    return isLive(rental) ? <NoneYet rental={rental} /> : <p className="text-muted">{texts.none}</p>;
  }
  return <ChargesOverTime rental={rental} charges={data} readAtMs={dataUpdatedAt} />;
}

/** Before the first cent it is told how much of it has accrued. */
function NoneYet({ rental }: { readonly rental: Rental }) {
  const { firstMillicents } = useCost(rental);
  const rate = money(rental.pricePerHourCents);
  return (
    <p className="tabular text-muted">
      {firstMillicents === undefined ? texts.noneYet : texts.firstCent(centsOf(firstMillicents), rate)}
    </p>
  );
}

/** Long ones are told by days: the line stays as readable, and the table as short. */
function intervalOf({ runningAt, stoppedAt }: Rental): Charges['interval'] {
  if (runningAt === null) return 'hour';
  const untilMs = stoppedAt === null ? serviceTimeAt(Date.now()) : Date.parse(stoppedAt);
  return untilMs - Date.parse(runningAt) > DAYS_BY_HOUR * DAY_MS ? 'day' : 'hour';
}

interface ChargesOverTimeProps {
  readonly rental: Rental;
  readonly charges: Charges;
  readonly readAtMs: number;
}

function ChargesOverTime({ rental, charges, readAtMs }: ChargesOverTimeProps) {
  const { runningAt, stoppedAt } = rental;
  const points = useMemo(() => {
    const atMs = stoppedAt === null ? serviceTimeAt(readAtMs) : Date.parse(stoppedAt);
    return chargePoints(charges, runningAt, { atMs, cents: charges.totalChargedCents });
  }, [charges, runningAt, stoppedAt, readAtMs]);
  const total = money(charges.totalChargedCents);
  const { maxSpendCents: limit } = rental;
  return (
    <>
      <Legend rental={rental} />
      <Suspense fallback={<Skeleton className="h-48 w-full" />}>
        <CostChart
          points={points}
          limitCents={limit}
          label={limit === null ? texts.chart(total) : texts.chartLimit(total, money(limit))}
        />
      </Suspense>
      <details className="mt-3">
        <summary className="text-[13px] text-soft">{texts.table}</summary>
        <div className="mt-2 max-h-80 overflow-y-auto">
          <ChargesTable charges={charges} />
        </div>
      </details>
    </>
  );
}

/** What the two lines are: the total with the rate at which it rises, and the limit with when it is reached. */
function Legend({ rental }: { readonly rental: Rental }) {
  const { chargedCents } = useCost(rental);
  const { maxSpendCents, pricePerHourCents } = rental;
  const left = secondsToLimit(rental, chargedCents, useServiceNow());
  const limit = maxSpendCents === null ? undefined : money(maxSpendCents);
  return (
    <dl className="mb-3 flex flex-wrap gap-x-6 gap-y-1 text-[13px] tabular">
      <div className="flex items-center gap-2">
        <span aria-hidden="true" className="w-5 border-t-2 border-accent" />
        <dt className="text-muted">{texts.total}</dt>
        <dd>{texts.atRate(money(chargedCents), money(pricePerHourCents))}</dd>
      </div>
      {limit !== undefined && (
        <div className="flex items-center gap-2">
          <span aria-hidden="true" className="w-5 border-t-2 border-dashed border-warn" />
          <dt className="text-muted">{texts.limit}</dt>
          <dd>{left === null ? limit : texts.limitIn(limit, span(left))}</dd>
        </div>
      )}
    </dl>
  );
}

function ChargesTable({ charges: { charges, totalChargedCents } }: { readonly charges: Charges }) {
  return (
    <Table label={texts.title}>
      <thead>
        <tr>
          <Th>{texts.from}</Th>
          <Th className="text-right">{texts.charged}</Th>
          <Th className="text-right">{texts.refunded}</Th>
        </tr>
      </thead>
      <tbody>
        {charges.map(({ from, chargedCents, refundedCents }) => (
          <tr key={from}>
            <Td>
              <Time at={from} />
            </Td>
            <Td className="text-right">
              <Money cents={chargedCents} />
            </Td>
            <Td className="text-right">
              <Money cents={refundedCents} />
            </Td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <Th scope="row">{texts.sum}</Th>
          <Td colSpan={2} className="text-right font-semibold">
            <Money cents={totalChargedCents} />
          </Td>
        </tr>
      </tfoot>
    </Table>
  );
}
