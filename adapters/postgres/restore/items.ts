import { operationLimits } from '../../../domain/operations/limits.js';
import type {
  ChangedLimit,
  EndedRental,
  LostRental,
  MissingPayment,
  RestoreReport,
  UnknownPod,
} from '../../../domain/operations/restore.js';
import type { Database, Transaction } from '../database.js';

/** What stands in a run's rows, by kind. */
export interface RestoreItems {
  ended: EndedRental;
  limit: ChangedLimit;
  without_run: string;
  lost: LostRental;
  pod: UnknownPod;
  payment: MissingPayment;
}

type Kind = keyof RestoreItems;

/** The id of an item: a repeated look finds it again, and keeps it once. */
const idOf: { readonly [K in Kind]: (item: RestoreItems[K]) => string } = {
  ended: ({ rentalId }) => rentalId,
  limit: ({ rentalId }) => rentalId,
  without_run: (rentalId) => rentalId,
  lost: ({ rentalId }) => rentalId,
  pod: ({ providerCode, podId }) => `${providerCode} ${podId}`,
  payment: ({ paymentId }) => paymentId,
};

/** Keeps items of one kind that a run has found. The first word about an item stays. */
export async function keepItems<K extends Kind>(
  db: Database | Transaction,
  runId: string,
  kind: K,
  items: readonly RestoreItems[K][],
): Promise<void> {
  if (items.length === 0) return;
  await db.raw(
    `insert into restore_items (run_id, kind, id, item)
     select :runId, :kind, x.id, x.item from jsonb_to_recordset(:rows::jsonb) as x (id text, item jsonb)
     on conflict do nothing`,
    { runId, kind, rows: JSON.stringify(items.map((item) => ({ id: idOf[kind](item), item }))) },
  );
}

/** Keeps the lists of a report of a release that told all of them in one answer. */
export async function keepReport(
  db: Database,
  runId: string,
  lists: Partial<Pick<RestoreReport, 'ended' | 'limits' | 'unknownPods' | 'missingPayments'>>,
): Promise<void> {
  await keepItems(db, runId, 'ended', lists.ended ?? []);
  await keepItems(db, runId, 'limit', lists.limits ?? []);
  await keepItems(db, runId, 'pod', lists.unknownPods ?? []);
  await keepItems(db, runId, 'payment', lists.missingPayments ?? []);
}

/** Rows of one statement. */
const ITEMS_AT_ONCE = 500;

/**
 * Reads a kind's items in the order of their ids, page by page.
 * @param undone leaves out those that are done when their page is read
 */
export async function* eachItem<K extends Kind>(
  db: Database,
  of: { readonly runId: string; readonly kind: K },
  { undone = false }: { readonly undone?: boolean } = {},
): AsyncGenerator<{ id: string; item: RestoreItems[K] }, void> {
  for (let after = ''; ;) {
    const page = await readItems(db, { ...of, limit: ITEMS_AT_ONCE }, { after, undone });
    yield* page;
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.id;
  }
}

async function readItems<K extends Kind>(
  db: Database | Transaction,
  of: { readonly runId: string; readonly kind: K; readonly limit: number },
  { after = '', undone = false }: { readonly after?: string; readonly undone?: boolean } = {},
): Promise<{ id: string; item: RestoreItems[K] }[]> {
  const { runId, kind, limit } = of;
  const query = db('restore_items').where({ run_id: runId, kind }).where('id', '>', after);
  if (undone) void query.whereNull('done_at');
  const rows = await query.orderBy('id').limit(limit).select('id', 'item');
  return rows as unknown as { id: string; item: RestoreItems[K] }[];
}

/** Notes that an item is done, in the transaction that does it. */
export async function noteDone(trx: Transaction, runId: string, kind: Kind, id: string): Promise<void> {
  await trx('restore_items')
    .where({ run_id: runId, kind, id })
    .update({ done_at: trx.raw('clock_ms()') });
}

/** Counts a kind's items that are done. */
export async function countDone(db: Database, runId: string, kind: Kind): Promise<number> {
  const { rows } = await db.raw<{ rows: { done: number }[] }>(
    'select count(done_at) as done from restore_items where run_id = :runId and kind = :kind',
    { runId, kind },
  );
  return rows[0]?.done ?? 0;
}

type Lists = Required<
  Pick<RestoreReport, 'ended' | 'limits' | 'withoutRun' | 'lost' | 'unknownPods' | 'missingPayments'>
>;

/**
 * Reads a run's items as a report shows them: the first of each kind, and how many more there are.
 * @param most of each kind; null for all of them
 */
export async function readLists(
  db: Database,
  runId: string,
  most: number | null = operationLimits.restoreNamed,
): Promise<Lists & Pick<RestoreReport, 'more'>> {
  const listed = async <K extends Kind>(kind: K): Promise<RestoreItems[K][]> =>
    (await readItems(db, { runId, kind, limit: most ?? 1_000_000 })).map(({ item }) => item);
  const lists = {
    ended: await listed('ended'),
    limits: await listed('limit'),
    withoutRun: (await listed('without_run')) as Lists['withoutRun'],
    lost: await listed('lost'),
    unknownPods: await listed('pod'),
    missingPayments: await listed('payment'),
  };
  const { rows } = await db.raw<{ rows: { kind: Kind; items: number; differing: number }[] }>(
    `select kind, count(*) as items, count(item -> 'differs') as differing
       from restore_items where run_id = :runId group by kind`,
    { runId },
  );
  const count = (kind: Kind): number => rows.find((row) => row.kind === kind)?.items ?? 0;
  const differing = rows.find(({ kind }) => kind === 'ended')?.differing ?? 0;
  const left = {
    ended: count('ended') - lists.ended.length,
    differing: differing - lists.ended.filter(({ differs }) => differs !== undefined).length,
    limits: count('limit') - lists.limits.length,
    withoutRun: count('without_run') - lists.withoutRun.length,
    lost: count('lost') - lists.lost.length,
    unknownPods: count('pod') - lists.unknownPods.length,
    missingPayments: count('payment') - lists.missingPayments.length,
  };
  const more = Object.fromEntries(Object.entries(left).filter(([, items]) => items > 0));
  return Object.keys(more).length === 0 ? lists : { ...lists, more };
}
