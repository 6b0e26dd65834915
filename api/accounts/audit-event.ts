import { insertAuditEvent, type AuditEvent } from '../../adapters/postgres/accounts/audit-events.js';
import { keyIdOf, type ApiContext, type ApiDeps } from '../context.js';
import { addressOf } from '../http/middleware/client-address.js';

/** What a request does; the request itself says by which key, and from where. */
type AskedEvent = Omit<AuditEvent, 'clientAddress' | 'apiKeyId'>;

/** The audit event of a request, with its API key and the client's address (decision 59, "The audit trail"). */
export function auditEvent(ctx: ApiContext, event: AskedEvent): AuditEvent {
  return { ...event, apiKeyId: keyIdOf(ctx), clientAddress: auditAddress(ctx) };
}

/** The client's address; undefined when a proxy sent a text that is no address. */
export function auditAddress(ctx: Pick<ApiContext, 'ip'>): string | undefined {
  return addressOf(ctx.ip);
}

/**
 * Adds the client's address to what a workflow has done and written down. It is done already, so a failure here is an
 * error for operators and none for the caller.
 */
export async function noteAudit(ctx: ApiContext, deps: ApiDeps, event: AskedEvent): Promise<void> {
  try {
    await insertAuditEvent(deps.db, auditEvent(ctx, event));
  } catch (error) {
    ctx.state.log.error({ err: error, ...event }, 'an address is missing in the audit trail');
  }
}
