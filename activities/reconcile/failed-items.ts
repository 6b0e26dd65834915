import { isDatabaseAway } from '../../adapters/postgres/availability.js';
import { sqlStateOf } from '../../adapters/postgres/sql-state.js';
import { ProcessorError } from '../../adapters/processor/processor.js';
import { operationLimits } from '../../domain/operations/limits.js';
import type { ActivityDeps } from '../deps.js';

/**
 * The items of one pass that failed. The pass goes on with the others, and tells of these at its end: reconcile could
 * not read them (decision 62, "Comparison of the books"), or a restore could not do them (decision 67, "Restored
 * databases").
 */
export class FailedItems {
  /** The reason of each failure, by item: one that is asked for twice counts once. */
  readonly #items = new Map<string, string>();
  /** The first failure that may pass when it is asked again. */
  lost: ProcessorError | undefined;

  /** @param earlier what the try before had told, where this one goes on with its pass */
  constructor(
    private readonly log: ActivityDeps['log'],
    private readonly earlier: readonly string[] = [],
  ) {}

  /**
   * Does something with one item.
   * @returns the work's result; undefined when it failed
   * @throws a failure that is not the item's: the database is away, or too many items have failed already
   */
  async unlessItFails<T>(item: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      this.record(item, error);
      return undefined;
    }
  }

  /**
   * Records an item that failed.
   * @throws the failure when it is not the item's
   */
  record(item: string, error: unknown): void {
    const failed = this.earlier.length + this.#items.size;
    if (isDatabaseAway(error) || failed >= operationLimits.failedItemsOfPass) throw error;
    this.log.warn({ item, err: error }, 'this failed; the others of its pass are done');
    this.#items.set(item, reasonOf(error));
    if (error instanceof ProcessorError && error.kind === 'unknown') this.lost ??= error;
  }

  /** The items that failed and why, without any user's own words (decision 89, "Words kept from Temporal"). */
  get told(): string[] {
    const own = [...this.#items].map(([item, reason]) => `${item} (${reason})`);
    return [...new Set([...this.earlier, ...own])];
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof ProcessorError) {
    const { status } = error.details;
    return status === undefined ? error.kind : `${error.kind}, HTTP ${status}`;
  }
  const state = sqlStateOf(error);
  if (state !== undefined) return `SQLSTATE ${state}`;
  return error instanceof Error ? error.name : typeof error;
}
