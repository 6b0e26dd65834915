import * as declared from './describe-audit.js';
import { serve, type Handler } from '../http/serve.js';
import {
  findAuditPlace,
  listAuditEvents,
  type AuditPlace,
} from '../../adapters/postgres/accounts/audit-events.js';
import { listFailedSignIns } from '../../adapters/postgres/accounts/failed-sign-ins.js';
import type { AuditEventRow } from '../../adapters/postgres/rows/tables.js';
import type { UserId } from '../../domain/ids.js';
import { callerOf, type ApiDeps, type ApiRouter } from '../context.js';
import { isIdKey, noSuchCursor, pageOf, readCursor } from '../http/cursor.js';
import { readQuery } from '../http/validation.js';

/** The user's audit trail, newest first: GET /v1/audit (decision 59, "The audit trail"). */
export function auditRoutes(router: ApiRouter, deps: ApiDeps): void {
  serve(router, deps, declared.listAuditEvents, showAudit(deps));
}

function showAudit(deps: ApiDeps): Handler<typeof declared.listAuditEvents> {
  return async (ctx) => {
    const { kind, cursor, pageSize } = readQuery(ctx, declared.auditQuery);
    const { userId } = callerOf(ctx);
    const before = await findPlace(deps, userId, cursor);
    const rows = await listAuditEvents(deps.db, userId, { kind, beforeNo: before?.no }, pageSize + 1);
    const { page, nextCursor } = pageOf(rows, pageSize, (row) => [row.id]);
    const from = nextCursor === null ? undefined : page.at(-1)?.at;
    const failed =
      kind === undefined ? await listFailedSignIns(deps.db, userId, { from, before: before?.at }) : [];
    return {
      events: page.map(presentAuditEvent),
      failedSignIns: failed.map((row) => ({ hour: row.hour.toISOString(), tries: row.failed })),
      nextCursor,
    };
  };
}

async function findPlace(
  deps: ApiDeps,
  userId: UserId,
  cursor: string | undefined,
): Promise<AuditPlace | undefined> {
  const [id] = readCursor(cursor, isIdKey('aud')) ?? [];
  if (id === undefined) return undefined;
  const place = await findAuditPlace(deps.db, userId, id);
  if (!place) throw noSuchCursor();
  return place;
}

/** An event on read. */
export function presentAuditEvent(row: AuditEventRow) {
  return {
    id: row.id,
    kind: row.kind,
    entityId: row.entity_id,
    details: row.details,
    apiKeyId: row.api_key_id,
    clientAddress: row.client_address,
    at: row.at.toISOString(),
  };
}
