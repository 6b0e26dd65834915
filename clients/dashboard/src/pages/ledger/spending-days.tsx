import type { components } from '@gpu-rental/client';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { familyName } from '../../format/machine.js';
import { money } from '../../format/money.js';
import { number } from '../../format/number.js';
import { utcDay } from '../../format/time.js';
import { ledgerTexts } from '../../texts/ledger.js';
import { rentalTexts } from '../../texts/rentals.js';
import { ChevronRightIcon } from '../../ui/icons.js';
import { Money } from '../../ui/money.js';
import { rentalTitle } from '../rentals/matching.js';
import { entriesSearch } from './filter.js';
import { type LedgerSearch } from './search.js';
import { DAY_MS } from '../../format/months.js';

type SpendingDay = components['schemas']['SpendingDay'];
type SpendingRental = components['schemas']['SpendingRental'];

const texts = ledgerTexts.spending;

/** Days, newest first, each with its rentals, the costliest first. The newest is open at first. */
export function SpendingDays({ days }: { readonly days: readonly SpendingDay[] }) {
  return (
    <ul className="divide-y divide-line">
      {days.map((day, index) => (
        <Day key={day.from} day={day} isOpenAtFirst={index === 0} />
      ))}
    </ul>
  );
}

interface DayProps {
  readonly day: SpendingDay;
  readonly isOpenAtFirst: boolean;
}

function Day({ day, isOpenAtFirst }: DayProps) {
  const { from, rentals, otherRentals, chargedCents, refundedCents } = day;
  const [isOpen] = useState(isOpenAtFirst);
  const count = rentals.length + (otherRentals?.rentals ?? 0);
  const search = entriesSearch({ from, to: new Date(Date.parse(from) + DAY_MS).toISOString() });
  return (
    <li>
      <details open={isOpen} className="group">
        <summary className="flex min-h-11 list-none items-center gap-x-3 px-4 py-2 select-none hover:bg-sunken">
          <span aria-hidden="true" className="text-muted group-open:rotate-90">
            <ChevronRightIcon />
          </span>
          <span className="flex min-w-0 flex-wrap items-baseline gap-x-3">
            <span className="font-medium">{utcDay(from)}</span>
            <span className="text-[13px] text-muted">{texts.rentals(number(count), count)}</span>
          </span>
          <Amounts chargedCents={chargedCents} refundedCents={refundedCents} />
        </summary>
        <ul className="border-t border-line bg-sunken">
          {rentals.map((rental) => (
            <RentalLine key={rental.rentalId} rental={rental} day={utcDay(from)} search={search} />
          ))}
          {otherRentals && (
            <Line sums={otherRentals} search={search} entriesOf={texts.entriesOfDay(utcDay(from))}>
              <span className="text-muted">
                {texts.otherRentals(number(otherRentals.rentals), otherRentals.rentals)}
              </span>
            </Line>
          )}
        </ul>
      </details>
    </li>
  );
}

interface RentalLineProps {
  readonly rental: SpendingRental;
  readonly day: string;
  readonly search: LedgerSearch;
}

function RentalLine({ rental, day, search }: RentalLineProps) {
  const { rentalId, name, gpuCount, family } = rental;
  const title = rentalTitle(rental);
  return (
    <Line
      sums={rental}
      search={{ ...search, rental: rentalId }}
      entriesOf={texts.entriesOfRental(title, day)}
    >
      <Link
        to="/app/rentals/$rentalId"
        params={{ rentalId }}
        className="font-medium break-words hover:underline"
      >
        {title}
      </Link>
      {name !== null && (
        <span className="block text-[13px] text-muted">
          {rentalTexts.machine(gpuCount, familyName(family))}
        </span>
      )}
    </Line>
  );
}

interface Sums {
  readonly chargedCents: number;
  readonly refundedCents: number;
}

interface LineProps {
  readonly sums: Sums;
  /** Leads to the entries one by one. */
  readonly search: LedgerSearch;
  /** What that link is called. */
  readonly entriesOf: string;
  readonly children: ReactNode;
}

function Line({ sums, search, entriesOf, children }: LineProps) {
  return (
    <li className="flex items-center gap-x-4 py-2 pr-4 pl-11">
      <div className="min-w-0 flex-1 items-center justify-between gap-x-4 sm:flex">
        <div className="min-w-0">{children}</div>
        <Link
          to="/app/ledger"
          search={search}
          aria-label={entriesOf}
          className="shrink-0 text-[13px] text-accent hover:underline pointer-coarse:inline-block pointer-coarse:py-2"
        >
          {texts.entries}
        </Link>
      </div>
      <Amounts {...sums} />
    </li>
  );
}

function Amounts({ chargedCents, refundedCents }: Sums) {
  return (
    <span className="ml-auto min-w-26 shrink-0 text-right">
      <Money cents={chargedCents} className="font-medium" />
      {refundedCents !== 0 && (
        <span className="block text-[13px] text-good">{texts.back(money(refundedCents))}</span>
      )}
    </span>
  );
}
