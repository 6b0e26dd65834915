import type { Rental } from '@gpu-rental/client';
import { rentalListTexts } from '../../texts/rental-list.js';
import { shellTexts } from '../../texts/shell.js';
import { classes } from '../../ui/classes.js';
import type { Choice } from './choosing.js';
import { RentalColumns, RentalItem, RentalSkeleton } from './rental-item.js';

interface RentalListProps {
  readonly label: string;
  /** Undefined while they are on their way. */
  readonly rentals: readonly Rental[] | undefined;
  /** How many there are in all. */
  readonly count: number | undefined;
  readonly isPending: boolean;
  /** They were found by what was asked for before. */
  readonly isOld: boolean;
  readonly skeletons: number;
  /** From which some may be chosen. */
  readonly choice?: Choice;
}

/** Rentals in rows, or as cards on phones. */
export function RentalList(props: RentalListProps) {
  const { label, rentals, count = 0, isPending, isOld, skeletons, choice } = props;
  return (
    <>
      <p role="status" className="sr-only">
        {isPending || isOld ? shellTexts.loading : rentalListTexts.found(count)}
      </p>
      <RentalColumns />
      <ul
        aria-label={label}
        aria-busy={isOld || undefined}
        className={classes('divide-y divide-line', isOld && 'opacity-60')}
      >
        {rentals
          ? rentals.map((rental) => (
              <RentalItem key={rental.id} rental={rental} {...(choice && { choice })} />
            ))
          : Array.from({ length: skeletons }, (_, place) => <RentalSkeleton key={place} />)}
      </ul>
    </>
  );
}
