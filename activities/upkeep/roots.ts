import {
  beginRoot,
  buildTree,
  isRootDue,
  keepTree,
  listUnbuiltRoots,
} from '../../adapters/postgres/ledger/roots.js';
import type { ActivityDeps } from '../deps.js';
import type { Tell } from '../heartbeat.js';

/** Begins the root of the last day's walk, where it has none (decision 140, "Proof of the ledger"). */
export async function beginDueRoot({ db }: ActivityDeps): Promise<void> {
  if (await isRootDue(db)) await beginRoot(db);
}

/** Builds the trees of roots that have none: what a worker that ended left half done begins anew. */
export async function buildRoots({ db }: ActivityDeps, tell: Tell): Promise<void> {
  for (const { number, salt } of await listUnbuiltRoots(db)) {
    const { nodes, tree } = await buildTree(db, number, salt.toString('hex'), (built) =>
      tell({ root: number, built }),
    );
    await keepTree(db, number, nodes, tree);
  }
}
