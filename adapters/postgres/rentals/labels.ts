import type { UserId } from '../../../domain/ids.js';
import { inOrder, type Labels } from '../../../domain/rentals/labels.js';
import type { Transaction } from '../database.js';

/** A rental, as far as its labels need it. */
interface Labelled {
  readonly no: number;
  readonly user_id: UserId;
}

/**
 * Gives a rental these labels in place of those that it has. The rental must be new, or locked by this transaction: a
 * settled one keeps its labels, and the database refuses the change.
 */
export async function replaceLabels(trx: Transaction, rental: Labelled, labels: Labels): Promise<void> {
  await trx('rental_labels').where({ rental_no: rental.no }).delete();
  const rows = inOrder(labels).map(([key, value], index) => ({
    rental_no: rental.no,
    user_id: rental.user_id,
    place: index + 1,
    key,
    value,
  }));
  if (rows.length > 0) await trx('rental_labels').insert(rows);
}
