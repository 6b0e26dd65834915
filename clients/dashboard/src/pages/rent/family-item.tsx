import { Link } from '@tanstack/react-router';
import type { Listing } from '@gpu-rental/client';
import type { ReactNode } from 'react';
import { money } from '../../format/money.js';
import { number } from '../../format/number.js';
import { span } from '../../format/time.js';
import { countedShare } from './starts.js';
import { rentTexts } from '../../texts/rent.js';
import { Badge } from '../../ui/badge.js';
import { classes } from '../../ui/classes.js';
import { ChevronRightIcon } from '../../ui/icons.js';
import { Skeleton } from '../../ui/states.js';
import { choicesOf, type OfferedFamily } from './families.js';
import type { RentSearch } from './search.js';
import { Sparkline } from './sparkline.js';

const { columns } = rentTexts;
const grid =
  'grid grid-cols-2 gap-x-4 gap-y-2 px-4 py-3 lg:grid-cols-[minmax(9rem,1fr)_7rem_3.5rem_5rem_9rem_6.5rem_7.5rem_1rem] lg:items-center';

/** The names of the columns, for the eye: each cell says its own to screen readers. */
export function FamilyColumns() {
  const { gpu, price, offers, reliability, ssh, losses, history } = columns;
  return (
    <div
      aria-hidden="true"
      className={classes(
        grid,
        'hidden border-b border-line py-2! text-[13px] font-medium text-muted lg:grid',
      )}
    >
      <span>{gpu}</span>
      <span className="text-right">{price}</span>
      <span className="text-right">{offers}</span>
      <span className="text-right">{reliability}</span>
      <span className="text-right" title={rentTexts.sshTitle}>
        {ssh}
      </span>
      <span className="text-right">{losses}</span>
      <span>{history}</span>
    </div>
  );
}

interface FamilyItemProps {
  readonly row: OfferedFamily;
  readonly search: RentSearch;
  /** It is the cheapest of those that fit. */
  readonly isFirst: boolean;
}

/** A family: a row where there is room, a card on phones. All of it leads to its offers. */
export function FamilyItem({ row, search, isFirst }: FamilyItemProps) {
  const { id, name, cheapest, lowestCents, available } = row;
  const price = { cents: lowestCents, cheapest };
  return (
    <li className={classes(grid, 'relative hover:bg-sunken')}>
      <div className="col-span-2 flex min-w-0 items-start justify-between gap-3 lg:col-span-1 lg:block">
        <div className="min-w-0">
          <h2 className="flex flex-wrap items-center gap-x-2 gap-y-1 text-[15px] font-semibold">
            <Link
              to="/app/rent/$familyId"
              params={{ familyId: id }}
              search={choicesOf(search, cheapest)}
              className="after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:rounded-md focus-visible:after:outline-2 focus-visible:after:outline-(--focus)"
            >
              {name}
            </Link>
            {isFirst && <Badge tone="good">{rentTexts.cheapest}</Badge>}
          </h2>
          <p className="mt-0.5 text-[13px] text-muted">{describe(row)}</p>
        </div>
        <Price told={rentTexts.perHour(money(lowestCents))} {...price} className="text-right lg:hidden" />
      </div>
      <Price told={money(lowestCents)} {...price} className="hidden text-right lg:block" />
      <Cell label={columns.offers}>{number(available)}</Cell>
      <ReliabilityCells reliability={cheapest?.reliability ?? null} />
      <div className="col-span-2 lg:col-span-1">
        <span className="text-xs text-muted lg:sr-only">{columns.history}</span>
        <Sparkline familyId={id} days={7} />
      </div>
      <ChevronRightIcon className="hidden size-4 text-muted lg:block" />
    </li>
  );
}

function ReliabilityCells({ reliability }: { readonly reliability: Listing['reliability'] }) {
  if (!reliability) {
    return (
      <Cell label={columns.reliability} className="lg:col-span-3">
        <span className="text-muted">{rentTexts.tooLittle}</span>
      </Cell>
    );
  }
  const { createSuccess, timeToSshSeconds: ssh, lossesPer1000Hours: losses, days, samples } = reliability;
  const starts = countedShare(createSuccess);
  return (
    <>
      <Cell label={columns.reliability} title={rentTexts.reliabilityNote(days, number(samples))}>
        {rentTexts.counted(starts.count, starts.of)}
      </Cell>
      <Cell label={columns.ssh} title={rentTexts.sshTitle}>
        {ssh ? rentTexts.sshShort(span(ssh.p50), span(ssh.p90)) : rentTexts.unknown}
      </Cell>
      <Cell label={columns.losses}>{losses === null ? rentTexts.unknown : number(losses)}</Cell>
    </>
  );
}

interface CellProps {
  readonly label: string;
  readonly title?: string;
  readonly className?: string;
  readonly children: ReactNode;
}

function Cell({ label, title, className, children }: CellProps) {
  return (
    <div title={title} className={classes('min-w-0 tabular lg:text-right', className)}>
      <span className="block text-xs text-muted lg:sr-only">{label}</span>
      {children}
    </div>
  );
}

interface PriceProps {
  /** The price as it is shown: with its unit where no column's name tells that. */
  readonly told: string;
  readonly cents: number;
  readonly cheapest: Listing | undefined;
  readonly className: string;
}

function Price({ told, cents, cheapest, className }: PriceProps) {
  const gpus = cheapest?.gpuCount ?? 1;
  return (
    <div className={classes('shrink-0 tabular', className)}>
      <span className="sr-only">{columns.price}</span>
      <span className="text-[15px] font-semibold">{told}</span>
      {gpus > 1 && (
        <span className="block text-xs whitespace-nowrap text-muted">
          {rentTexts.perGpu(money(Math.round(cents / gpus)))}
        </span>
      )}
    </div>
  );
}

function describe({ vramGb, gpuCounts, regionCodes }: OfferedFamily): string {
  return [
    ...(vramGb.length > 0 ? [rentTexts.memory(vramGb.join('/'))] : []),
    ...(gpuCounts.length > 0 ? [rentTexts.counts(gpuCounts.join(', '))] : []),
    ...(regionCodes.length > 0 ? [rentTexts.countries(regionCodes.length)] : []),
  ].join(rentTexts.separator);
}

/** Holds the place of a family. */
export function FamilySkeleton() {
  return (
    <li className={grid} aria-hidden="true">
      <div className="col-span-2 lg:col-span-1">
        <Skeleton className="h-5 w-32" />
        <Skeleton className="mt-1.5 h-4 w-44" />
      </div>
      {[1, 2, 3, 4, 5].map((cell) => (
        <Skeleton key={cell} className="h-9 w-16 lg:ml-auto lg:h-5" />
      ))}
      <Skeleton className="h-8 w-36" />
    </li>
  );
}
