import type { BrakeKind } from '../../../domain/operations/operation.js';
import type { Database, Transaction } from '../database.js';
import type { BrakeRow } from '../rows/tables.js';

/** Lists the global brakes that operators have pulled (decision 37, "Brakes and the watermark"). */
export async function listBrakes(db: Database | Transaction): Promise<BrakeRow[]> {
  return db('brakes').orderBy('kind');
}

export async function isPulled(db: Database | Transaction, kind: BrakeKind): Promise<boolean> {
  return (await db('brakes').where({ kind }).first('kind')) !== undefined;
}

/**
 * Pulls a brake.
 * @returns false when it was pulled before: the first one's reason stays
 */
export async function pullBrake(
  trx: Transaction,
  brake: { readonly kind: BrakeKind; readonly by: string; readonly reason: string },
): Promise<boolean> {
  const pulled = await trx('brakes')
    .insert({ kind: brake.kind, pulled_by: brake.by, reason: brake.reason })
    .onConflict('kind')
    .ignore()
    .returning('kind');
  return pulled.length === 1;
}

/** Releases a brake. @returns false when it was not pulled */
export async function releaseBrake(trx: Transaction, kind: BrakeKind): Promise<boolean> {
  return (await trx('brakes').where({ kind }).delete()) === 1;
}
