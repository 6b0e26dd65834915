import { isDatabaseAway } from '../adapters/postgres/availability.js';
import { sqlStateOf } from '../adapters/postgres/sql-state.js';
import { ProcessorError } from '../adapters/processor/processor.js';
import { limits } from '../domain/limits.js';
import type { ActivityDeps } from './deps.js';

/** So many are named: the log names all. */
const NAMED = 5;

/**
 * What one comparison could not read, item by item: the findings of the rest are found all the same, and what is named
 * here is shown as not compared (decision 62).
 */
export class Unread {
  /** Why not, by item: one that is asked for twice is one. */
  readonly #items = new Map<string, string>();
  /** The first failure that may pass when it is asked again. */
  lost: ProcessorError | undefined;

  constructor(private readonly log: ActivityDeps['log']) {}

  /**
   * Does something with one item.
   * @returns what it gave; undefined when it failed
   * @throws what is no fault of the item: the database is away, or too many have failed already
   */
  async unlessItFails<T>(item: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      this.note(item, error);
      return undefined;
    }
  }

  /** Notes one that failed. @throws the failure when it is not the item's */
  note(item: string, error: unknown): void {
    if (isDatabaseAway(error) || this.#items.size >= limits.reconcileUnread) throw error;
    this.log.warn({ item, err: error }, 'reconcile could not read this; the others are compared');
    this.#items.set(item, reasonOf(error));
    if (error instanceof ProcessorError && error.kind === 'unknown') this.lost ??= error;
  }

  /** Which ones and why, without anybody's own words (decision 89); null when all could be read. */
  get why(): string | null {
    const items = [...this.#items].map(([item, reason]) => `${item} (${reason})`);
    if (items.length === 0) return null;
    const more = items.length > NAMED ? ` and ${items.length - NAMED} more` : '';
    return `not read: ${items.slice(0, NAMED).join(', ')}${more}; the rest was compared`;
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
