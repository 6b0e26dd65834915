import {
  holdsSecrets,
  noSoftware,
  outlineOf,
  type Software,
  type SoftwareOutline,
  type SoftwareSecrets,
} from '../../../domain/rentals/software.js';
import { newId } from '../../ids.js';
import { sealSecret, type OpenSecret } from '../../sealed-secrets.js';
import type { Database, Transaction } from '../database.js';
import type { SoftwareSecretRow } from '../rows/tables.js';

/** Own software as it is kept: what may be read, and what is sealed; null where nothing is secret. */
export interface SealedSoftware {
  readonly outline: SoftwareOutline;
  readonly secrets: Pick<SoftwareSecretRow, 'id' | 'sealed'> | null;
}

/** Seals own software for the worker (decision 154, "Sealed software"). */
export function sealSoftware(publicKey: string, software: Software): SealedSoftware {
  if (!holdsSecrets(software)) return { outline: outlineOf(software, null), secrets: null };
  const { args, env, startScript, registryAuth } = software;
  const secrets: SoftwareSecrets = { args, env, startScript, registryAuth };
  const id = newId('sw');
  return {
    outline: outlineOf(software, id),
    secrets: { id, sealed: sealSecret(publicKey, JSON.stringify(secrets), id) },
  };
}

/** Keeps the secrets of what is about to be quoted or rented. */
export async function insertSoftwareSecrets(
  db: Database | Transaction,
  secrets: SealedSoftware['secrets'],
): Promise<void> {
  if (secrets) await db('software_secrets').insert(secrets).onConflict('id').ignore();
}

/**
 * Opens own software for the upstream that is asked for a machine.
 * @throws Error when its secrets are wiped: they outlast each way to a machine
 */
export async function openSoftware(
  db: Database,
  { image, entrypoint, ports, diskGb, secretsId }: SoftwareOutline,
  openSecret: OpenSecret,
): Promise<Software> {
  const shown: Software = { ...noSoftware, image, entrypoint: entrypoint ?? 'keep', ports, diskGb };
  if (secretsId === null) return shown;
  const row = await db('software_secrets').where({ id: secretsId }).first('sealed');
  if (!row) throw new Error(`the secrets ${secretsId} of own software are wiped`);
  return { ...shown, ...(JSON.parse(openSecret(row.sealed, secretsId)) as SoftwareSecrets) };
}

/**
 * Tells whether an upstream may keep credentials: for a machine that is not closed, or of the last day, or because they
 * could not be removed.
 */
export async function mayKeepCredentials(db: Database): Promise<boolean> {
  const { rows } = await db.raw<{ rows: { may: boolean }[] }>(
    `select exists (select 1 from rentals where software ->> 'hasRegistryAuth' = 'true' and closed_at is null)
         or exists (select 1 from rentals where software ->> 'hasRegistryAuth' = 'true'
                       and closed_at > (select clock_ms()) - interval '1 day')
         or exists (select 1 from rental_requests where software ->> 'hasRegistryAuth' = 'true'
                       and requested_at > (select clock_ms()) - interval '1 day')
         or exists (select 1 from stuck_items where duty = 'credential'
                       or duty = 'upkeep' and item like :part || '%') as may`,
    { part: credentialsPart },
  );
  return rows[0]?.may ?? true;
}

/** The part of the upkeep that removes them, before the code of an upstream. */
export const credentialsPart = 'sweep: credentials at ';

/** Lists the tags of an upstream's machines that may still be pulling their image. */
export async function listStartingTags(db: Database, providerCode: string): Promise<Set<string>> {
  const { rows } = await db.raw<{ rows: { tag: string }[] }>(
    `select tag from allocation_attempts where provider_code = :providerCode and state = 'open'
     union
     select tag from rentals where provider_code = :providerCode and status = 'provisioning' and closed_at is null`,
    { providerCode },
  );
  return new Set(rows.map(({ tag }) => tag));
}
