import type { UserId } from '../../../domain/ids.js';
import { inOrder, type Labels } from '../../../domain/rentals/labels.js';
import { wordsOf, type RentalWords } from '../../../domain/rentals/words.js';
import type { Transaction } from '../database.js';

/** A rental, as far as its words need it. */
interface Named {
  readonly no: number;
  readonly user_id: UserId;
}

/** Writes the words that a change asks for. The rental must be locked by this transaction. */
export async function writeWords(
  trx: Transaction,
  rental: Named,
  asked: Partial<RentalWords>,
): Promise<void> {
  const { labels, ...columns } = wordsOf(asked);
  if (Object.keys(columns).length > 0) await trx('rentals').where({ no: rental.no }).update(columns);
  if (labels) await replaceLabels(trx, rental, labels);
}

/**
 * Gives a rental these labels in place of those that it has. The rental must be new, or locked by this transaction: a
 * settled one keeps its labels, and the database refuses the change.
 */
export async function replaceLabels(trx: Transaction, rental: Named, labels: Labels): Promise<void> {
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
