import { userAgentOf } from '../../adapters/device.js';
import type { SeenFrom } from '../../adapters/postgres/accounts/sessions.js';
import type { ApiContext } from '../context.js';
import { auditAddress } from './audit-event.js';

/** From what and from where a request comes. */
export function seenFrom(ctx: Pick<ApiContext, 'ip' | 'get'>): SeenFrom {
  return { userAgent: userAgentOf(ctx.get('User-Agent')), clientAddress: auditAddress(ctx) };
}
