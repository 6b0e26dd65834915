import {
  clearStuck,
  findStuck,
  noteFailure,
  type Failure,
  type Stuck,
} from '../adapters/postgres/upkeep/stuck-items.js';
import { PeerError } from '../adapters/peer-error.js';
import { ProcessorError } from '../adapters/processor/processor.js';
import type { Duty } from '../domain/operations/stuck.js';
import type { ActivityDeps } from './deps.js';

type Noting = Pick<ActivityDeps, 'db' | 'log'>;

export interface Items<T> {
  readonly duty: Duty;
  readonly items: readonly T[];
  /** Names an item, so that its failures are counted together: the id of a workflow, a row or a machine. */
  readonly keyOf: (item: T) => string;
  /** False where a try that did not fail is not yet a success. */
  readonly clears?: boolean;
  /** Tells whether a failure is of all items rather than of this one. Then the pass ends, and nothing is counted. */
  readonly isOfAll?: (error: unknown) => Promise<boolean>;
  /** Called after each item: the loop gets on. */
  readonly tell?: ((detail: { readonly item: string }) => void) | undefined;
}

/**
 * Does something with each item of a loop, one after the other, so that one that fails keeps no other from it (decision
 * 69, "Items that fail"). An item that failed lately is left alone until its time.
 * @returns those that went well
 * @throws a failure that `isOfAll` holds for, and any error of the database when failures can't be counted
 */
export async function eachItem<T>(
  deps: Noting,
  items: Items<T>,
  work: (item: T) => Promise<unknown>,
): Promise<T[]> {
  const { duty, keyOf, tell } = items;
  const stuck = await findStuck(deps.db, duty, items.items.map(keyOf));
  const done: T[] = [];
  for (const item of items.items) {
    const key = keyOf(item);
    const known = stuck.get(key);
    if (known?.isWaiting === true) continue;
    if (await tryItem(deps, items, key, () => work(item))) {
      done.push(item);
      if (known && items.clears !== false) await clearStuck(deps.db, duty, key);
    }
    tell?.({ item: key });
  }
  return done;
}

async function tryItem<T>(
  deps: Noting,
  { duty, isOfAll }: Items<T>,
  item: string,
  work: () => Promise<unknown>,
): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (await isOfAll?.(error)) throw error;
    await noteStuck(deps, { duty, item, error });
    return false;
  }
}

/**
 * Does one part of the upkeep, so that one that fails keeps no other from it. A part is done each time even after it
 * failed; its failures in a row tell when operators must know.
 * @returns the part's result; undefined when it failed
 */
export async function eachPart<T>(
  deps: Noting,
  part: string,
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    const result = await work();
    await clearStuck(deps.db, 'upkeep', part);
    return result;
  } catch (error) {
    await noteStuck(deps, { duty: 'upkeep', item: part, error });
    return undefined;
  }
}

/**
 * Counts a failure, and tells operators when that sets the item aside. A failure that says nothing about the item only
 * puts its next try off (decision 95, "Outages of a peer").
 */
export async function noteStuck(
  deps: Noting,
  { error, ...failure }: Omit<Failure, 'error' | 'lastAnswers'> & { readonly error: unknown },
): Promise<Stuck> {
  const lastAnswers = error instanceof PeerError && error.isOfPeer ? error.lastAnswers : undefined;
  const stuck = await noteFailure(deps.db, { ...failure, error: textOf(error), lastAnswers });
  const { duty, item } = failure;
  const line = { duty, item, attempts: stuck.attempts, nextTryMs: stuck.nextTryMs, err: error };
  if (stuck.isNewlySetAside)
    deps.log.error(line, 'set aside: it is retried once an hour from now on; see "ops set-aside list"');
  else deps.log.warn(line, 'it failed and is retried later; the others go on');
  return stuck;
}

/** Returns what operators read of a failure: its words and the other side's code, never what was sent. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // The database's own words stand behind the statement.
  if ('severity' in error) return error.message.slice(error.message.lastIndexOf(' - ') + 1).trim();
  if (!(error instanceof ProcessorError)) return `${error.name}: ${error.message}`;
  const { code, status } = error.details;
  return [error.message, code, status === undefined ? undefined : `HTTP ${status}`].filter(Boolean).join(' ');
}
