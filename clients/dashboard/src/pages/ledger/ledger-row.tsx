import { type LedgerEntry, wordOf } from '@gpu-rental/client';
import { memo } from 'react';
import { fullTime } from '../../format/time.js';
import { ledgerTexts } from '../../texts/ledger.js';
import { classes } from '../../ui/classes.js';
import { Money } from '../../ui/money.js';

const grid =
  'grid w-full grid-cols-[minmax(0,1fr)_auto] gap-x-4 px-4 sm:grid-cols-[12.5rem_minmax(7rem,1fr)_8rem_9rem] lg:grid-cols-[13rem_9rem_minmax(0,1fr)_8rem_9rem]';

const { columns } = ledgerTexts;

/** The names of the columns; on phones a line says by itself what stands where. */
export function HeaderRow() {
  return (
    <div
      role="row"
      aria-rowindex={1}
      className={classes(
        grid,
        'z-10 h-9.25 items-center border-b border-line bg-surface text-[13px] font-medium text-muted max-sm:sr-only sm:sticky sm:top-0',
      )}
    >
      <span role="columnheader">{columns.time}</span>
      <span role="columnheader">{columns.entry}</span>
      <span role="columnheader" className="max-lg:sr-only">
        {columns.about}
      </span>
      <span role="columnheader" className="text-right">
        {columns.amount}
      </span>
      <span role="columnheader" className="text-right">
        {columns.balance}
      </span>
    </div>
  );
}

interface LedgerRowProps {
  readonly id: string;
  readonly entry: LedgerEntry | undefined;
  /** What its rental is called, where that is known. */
  readonly rental: string | undefined;
  readonly index: number;
  readonly isActive: boolean;
  readonly start: number;
  readonly height: number;
  /** Of lasting identity: a line is drawn anew only when something of it changes. */
  readonly onOpen: (index: number, entry: LedgerEntry) => void;
}

/** A line, at its place in the list. */
export const LedgerRow = memo(function LedgerRow({
  id,
  entry,
  rental,
  index,
  isActive,
  start,
  height,
  onOpen,
}: LedgerRowProps) {
  return (
    // The grid has the focus and hears the keys: the line is what it points at.
    // eslint-disable-next-line jsx-a11y/click-events-have-key-events
    <div
      id={id}
      role="row"
      aria-rowindex={index + 2}
      aria-busy={entry === undefined || undefined}
      onClick={() => entry && onOpen(index, entry)}
      style={{ height, transform: `translateY(${start}px)` }}
      className={classes(
        grid,
        'absolute inset-x-0 top-0 items-center border-b border-line max-sm:content-center max-sm:gap-y-1',
        entry && 'cursor-pointer hover:bg-sunken',
        isActive && 'group-focus-visible:bg-accent-soft',
      )}
    >
      {entry ? <Cells entry={entry} rental={rental} /> : <Waiting />}
    </div>
  );
});

interface CellsProps {
  readonly entry: LedgerEntry;
  readonly rental: string | undefined;
}

function Cells({ entry, rental }: CellsProps) {
  const { type, amountCents, balanceAfterCents, createdAt, rentalId, processorChargeId } = entry;
  return (
    <>
      <span
        role="gridcell"
        className="truncate text-muted tabular max-sm:order-3 max-sm:text-[13px] sm:text-soft"
      >
        <time dateTime={createdAt}>{fullTime(createdAt)}</time>
      </span>
      <span role="gridcell" className="truncate font-medium max-sm:order-1">
        {wordOf(ledgerTexts.types, type)}
      </span>
      <span
        role="gridcell"
        className={classes(
          'truncate text-muted max-lg:sr-only',
          rental === undefined ? 'font-mono text-xs' : 'text-[13px]',
        )}
      >
        {rental ?? rentalId ?? processorChargeId}
      </span>
      <span role="gridcell" className="text-right font-medium max-sm:order-2">
        <Money cents={amountCents} isSigned />
      </span>
      <span
        role="gridcell"
        className="text-right text-soft max-sm:order-4 max-sm:text-[13px] max-sm:text-muted"
      >
        <Money cents={balanceAfterCents} />
      </span>
    </>
  );
}

/** Still, as dozens of them fly past: a pulse of each would cost more than the lines. */
const bar = 'block rounded-md bg-sunken';

/** A line whose entry is being read: five cells of what comes. */
function Waiting() {
  return (
    <>
      <span role="gridcell" className="max-sm:order-3">
        <span aria-hidden="true" className={`${bar} h-3 w-36`} />
      </span>
      <span role="gridcell" className="max-sm:order-1">
        <span aria-hidden="true" className={`${bar} h-3 w-24`} />
      </span>
      <span role="gridcell" className="max-lg:sr-only" />
      <span role="gridcell" className="justify-self-end max-sm:order-2">
        <span aria-hidden="true" className={`${bar} h-3 w-14`} />
      </span>
      <span role="gridcell" className="justify-self-end max-sm:order-4">
        <span aria-hidden="true" className={`${bar} h-3 w-20`} />
      </span>
    </>
  );
}
