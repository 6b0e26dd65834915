import type { Charges, Rental } from '@gpu-rental/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Suspense, useMemo } from 'react';
import { chargesQuery, isLive } from '../../data/rentals.js';
import { money } from '../../format/money.js';
import { rentalTexts } from '../../texts/rentals.js';
import { Card } from '../../ui/card.js';
import { lazyPart } from '../../ui/lazy-part.js';
import { Money } from '../../ui/money.js';
import { ErrorNote, Skeleton } from '../../ui/states.js';
import { Table, Td, Th } from '../../ui/table.js';
import { Time } from '../../ui/time.js';
import { chargePoints } from './charge-points.js';

const texts = rentalTexts.charges;
const DAYS_BY_HOUR = 14;
const DAY_MS = 86_400_000;
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
      {isBilled ? <ReadCharges rental={rental} /> : <p className="text-muted">{texts.noneYet}</p>}
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
    return <p className="text-muted">{isLive(rental) ? texts.noneYet : texts.none}</p>;
  }
  return <ChargesOverTime rental={rental} charges={data} readAtMs={dataUpdatedAt} />;
}

/** Long ones are told by days: the line stays as readable, and the table as short. */
function intervalOf({ runningAt, stoppedAt }: Rental): Charges['interval'] {
  if (runningAt === null) return 'hour';
  const untilMs = stoppedAt === null ? Date.now() : Date.parse(stoppedAt);
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
    const atMs = stoppedAt === null ? readAtMs : Date.parse(stoppedAt);
    return chargePoints(charges, runningAt, { atMs, cents: charges.totalChargedCents });
  }, [charges, runningAt, stoppedAt, readAtMs]);
  return (
    <>
      <Suspense fallback={<Skeleton className="h-48 w-full" />}>
        <CostChart points={points} label={texts.chart(money(charges.totalChargedCents))} />
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
