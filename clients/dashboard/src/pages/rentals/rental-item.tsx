import type { Rental } from '@gpu-rental/client';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { familyName } from '../../format/machine.js';
import { money } from '../../format/money.js';
import { span } from '../../format/time.js';
import { useServiceNow } from '../../live/service-clock.js';
import { rentalListTexts } from '../../texts/rental-list.js';
import { rentalTexts } from '../../texts/rentals.js';
import { classes } from '../../ui/classes.js';
import { Skeleton } from '../../ui/states.js';
import { Time } from '../../ui/time.js';
import { ChoiceBox, type Choice } from './choosing.js';
import { rentalTitle } from './matching.js';
import { LabelBadges, StatusBadge } from './rental-badges.js';
import { billedSeconds, unbilled, useCost } from './use-cost.js';

const texts = rentalListTexts;
const grid =
  'grid grid-cols-2 gap-x-4 gap-y-1.5 px-4 py-3 lg:grid-cols-[minmax(14rem,1fr)_6rem_8rem_6.5rem_6rem_6rem] lg:items-center';

/** The names of the columns, for the eye: each cell says its own to screen readers. */
export function RentalColumns() {
  return (
    <div
      aria-hidden="true"
      className={classes(
        grid,
        'hidden border-b border-line py-2! text-[13px] font-medium text-muted lg:grid',
      )}
    >
      <span>{texts.all}</span>
      <span>{texts.status}</span>
      <span>{texts.started}</span>
      <span className="text-right">{texts.ran}</span>
      <span className="text-right">{texts.rate}</span>
      <span className="text-right">{texts.cost}</span>
    </div>
  );
}

/** A rental: a row where there is room, a card on phones. All of it leads to the rental. */
export function RentalItem({ rental, choice }: { readonly rental: Rental; readonly choice?: Choice }) {
  const { id, name, status, gpuCount, family, region, labels, startedAt, pricePerHourCents } = rental;
  const now = useServiceNow();
  const { chargedCents } = useCost(rental);
  const seconds = billedSeconds(rental, now);
  const machine = rentalTexts.machine(gpuCount, familyName(family));
  return (
    <li className={classes(grid, 'relative hover:bg-sunken')}>
      <div className="col-span-2 min-w-0 lg:col-span-1">
        <div className="flex items-start gap-3">
          {choice?.choosable.includes(rental) === true && (
            <ChoiceBox rental={rental} name={rentalTitle(rental)} choice={choice} />
          )}
          <h3 className="min-w-0 flex-1 font-semibold break-words">
            <Link
              to="/app/rentals/$rentalId"
              params={{ rentalId: id }}
              className="after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:rounded-md focus-visible:after:outline-2 focus-visible:after:outline-(--focus)"
            >
              {rentalTitle(rental)}
            </Link>
          </h3>
          <span className="lg:hidden">
            <StatusBadge status={status} />
          </span>
        </div>
        <p className="mt-0.5 text-[13px] break-words text-muted">
          {(name === null ? [region] : [machine, region]).join(rentalTexts.separator)}
        </p>
        <div className="mt-1 empty:hidden">
          <LabelBadges labels={labels} most={3} />
        </div>
      </div>
      <div className="hidden lg:block">
        <StatusBadge status={status} />
      </div>
      <Cell label={texts.started} isText>
        <Time at={startedAt} />
      </Cell>
      <Cell label={texts.ran}>{seconds === undefined ? unbilled(rental) : span(seconds)}</Cell>
      <Cell label={texts.rate}>{money(pricePerHourCents)}</Cell>
      <Cell label={texts.cost}>
        <span className="font-semibold">{money(chargedCents)}</span>
      </Cell>
    </li>
  );
}

interface CellProps {
  readonly label: string;
  readonly isText?: boolean;
  readonly children: ReactNode;
}

function Cell({ label, isText = false, children }: CellProps) {
  return (
    <div className={classes('min-w-0 tabular', !isText && 'lg:text-right')}>
      <span className="block text-xs text-muted lg:sr-only">{label}</span>
      {children}
    </div>
  );
}

/** Holds the place of a rental. */
export function RentalSkeleton() {
  return (
    <li className={grid} aria-hidden="true">
      <div className="col-span-2 lg:col-span-1">
        <Skeleton className="h-5 w-40" />
        <Skeleton className="mt-1.5 h-4 w-52 max-w-full" />
      </div>
      {[1, 2, 3, 4].map((cell) => (
        <Skeleton key={cell} className="h-9 w-20 lg:h-5" />
      ))}
    </li>
  );
}
