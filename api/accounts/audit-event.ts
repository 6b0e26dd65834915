import { isIP } from 'node:net';
import { insertAuditEvent, type AuditEvent } from '../../adapters/postgres/accounts/audit-events.js';
import type { ApiContext, ApiDeps } from '../context.js';
import { plainAddress } from '../http/middleware/client-address.js';

/** The audit event of a request, with the client's address (decision 59, "The audit trail"). */
export function auditEvent(ctx: ApiContext, event: Omit<AuditEvent, 'clientAddress'>): AuditEvent {
  return { ...event, clientAddress: auditAddress(ctx) };
}

/** The client's address; undefined when a proxy sent a text that is no address. */
export function auditAddress(ctx: Pick<ApiContext, 'ip'>): string | undefined {
  const address = plainAddress(ctx.ip);
  return isIP(address) === 0 ? undefined : address;
}

/**
 * Adds the client's address to what a workflow has done and written down. It is done already, so a failure here is an
 * error for operators and none for the caller.
 */
export async function noteAudit(
  ctx: ApiContext,
  deps: ApiDeps,
  event: Omit<AuditEvent, 'clientAddress'>,
): Promise<void> {
  try {
    await insertAuditEvent(deps.db, auditEvent(ctx, event));
  } catch (error) {
    ctx.state.log.error({ err: error, ...event }, 'an address is missing in the audit trail');
  }
}
