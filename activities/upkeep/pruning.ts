import { prune } from '../../adapters/postgres/upkeep/retention.js';
import { HOUR } from '../../domain/durations.js';
import type { Kept } from '../../domain/operations/retention.js';
import type { ActivityDeps } from '../deps.js';
import { eachPart, noteStuck } from '../each-item.js';
import type { Tell } from '../heartbeat.js';

/** Less than housekeeping may take, in milliseconds; the rest goes in the next round. */
const PRUNE_FOR_MS = 15_000;
const UNREACHED_MS = HOUR;

/**
 * Prunes tables by their rules, for some seconds a round (decision 70, "Pruned rows"). A round goes on behind the rule that
 * was tried last, so that neither one that fails nor a slow one keeps the others from it; operators are told of a rule that
 * no round has reached for an hour.
 * @param now milliseconds of a clock that only goes forward
 * @returns what does a round, and answers how many rows it removed
 */
export function pruneInTurn(
  rules: readonly Kept[],
  { now = () => performance.now(), batchRows }: { now?: () => number; batchRows?: number | undefined } = {},
): (deps: ActivityDeps, tell: Tell) => Promise<number> {
  const turns = rules.map((kept) => ({ kept, part: `pruning ${kept.table}: ${kept.what}`, triedMs: now() }));
  return async (deps, tell) => {
    const endMs = now() + PRUNE_FOR_MS;
    const isOver = () => now() > endMs;
    let removed = 0;
    for (const turn of [...turns]) {
      if (isOver()) break;
      // Before it is tried: a round that dies of it does not begin with it again.
      turns.push(...turns.splice(0, 1));
      const { kept, part } = turn;
      removed += (await eachPart(deps, part, () => prune(deps.db, kept, { tell, isOver, batchRows }))) ?? 0;
      turn.triedMs = now();
    }
    for (const { part, triedMs } of turns) {
      if (now() - triedMs < UNREACHED_MS) continue;
      const error = new Error('no round has come to it for an hour');
      await noteStuck(deps, { duty: 'upkeep', item: part, error });
    }
    return removed;
  };
}
