import { setTimeout as sleep } from 'node:timers/promises';
import { readAwaitedRentals, type AwaitedRental } from '../../adapters/postgres/machines/awaited-rentals.js';
import type { Database } from '../../adapters/postgres/database.js';
import type { RentalId } from '../../domain/ids.js';

/** The board at which all waiting rentals of this process look together. */
export interface AwaitBoard {
  /** Reads how a rental stands; undefined when there is none. */
  look(rentalId: RentalId): Promise<AwaitedRental | undefined>;
}

/** @param gatherMs questions that come within this time of each other, in milliseconds, are one query */
export function createAwaitBoard(db: Database, gatherMs: number): AwaitBoard {
  let gathering: { ids: Set<RentalId>; answers: Promise<Map<RentalId, AwaitedRental>> } | undefined;
  return {
    async look(rentalId) {
      if (gathering === undefined) {
        const ids = new Set<RentalId>();
        const answers = sleep(gatherMs).then(() => {
          gathering = undefined;
          return readAwaitedRentals(db, [...ids]);
        });
        gathering = { ids, answers };
      }
      gathering.ids.add(rentalId);
      return (await gathering.answers).get(rentalId);
    },
  };
}
