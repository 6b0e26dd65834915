import type { AuditKind } from '../../../domain/accounts/audit.js';
import type { ApiKeyId, AuditEventId, UserId } from '../../../domain/ids.js';
import { newId } from '../../ids.js';
import type { Database, Transaction } from '../database.js';
import type { AuditEventRow } from '../rows/tables.js';

export interface AuditEvent {
  readonly userId: UserId;
  readonly kind: AuditKind;
  /** The id of the entity; left out when there is nothing to name. */
  readonly entityId?: string | undefined;
  /** Facts that the entity's own row does not keep. Never a secret. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  /** The API key by which it was asked for; left out for a session. */
  readonly apiKeyId?: ApiKeyId | undefined;
  /** The address of the client; left out where no request of the user's is known. */
  readonly clientAddress?: string | undefined;
}

/**
 * Writes down an action (decision 59, "The audit trail") in the transaction that does it. The same action on the same
 * entity is written once, because its request may be sent again: a repetition only adds an address that was not known
 * before.
 */
export async function insertAuditEvent(db: Database | Transaction, event: AuditEvent): Promise<void> {
  const { userId, kind, entityId, details, apiKeyId, clientAddress } = event;
  await db.raw(
    `insert into audit_events as known (id, user_id, kind, entity_id, details, api_key_id, client_address)
     values (:id, :userId, :kind, :entityId, :details, :apiKeyId, :clientAddress)
     on conflict (kind, entity_id) where entity_id is not null
       do update set client_address = excluded.client_address
       where known.client_address is null and excluded.client_address is not null`,
    {
      id: newId('aud'),
      userId,
      kind,
      entityId: entityId ?? null,
      details: details === undefined ? null : JSON.stringify(details),
      apiKeyId: apiKeyId ?? null,
      clientAddress: clientAddress ?? null,
    },
  );
}

/**
 * Lists a user's events, newest first.
 * @param filter.beforeNo only events before this number
 */
export async function listAuditEvents(
  db: Database,
  userId: UserId,
  filter: { readonly kind: AuditKind | undefined; readonly beforeNo: number | undefined },
  limit: number,
): Promise<AuditEventRow[]> {
  const query = db('audit_events').where({ user_id: userId }).orderBy('no', 'desc').limit(limit);
  if (filter.kind !== undefined) void query.andWhere({ kind: filter.kind });
  if (filter.beforeNo !== undefined) void query.andWhere('no', '<', filter.beforeNo);
  return query;
}

/** Where a page of a user's events ended. */
export type AuditPlace = Pick<AuditEventRow, 'no' | 'at'>;

/**
 * Finds the place of a user's event; undefined for another user's event, as for none (decision 5, "Foreign ids").
 */
export async function findAuditPlace(
  db: Database,
  userId: UserId,
  id: AuditEventId,
): Promise<AuditPlace | undefined> {
  return db('audit_events').where({ id, user_id: userId }).first('no', 'at');
}
