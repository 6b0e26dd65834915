import { newId } from '../../adapters/ids.js';
import type { AuditEventRow } from '../../adapters/postgres/rows/tables.js';
import type { Account } from './account.js';
import type { World } from './world.js';

/** Writes into an account's audit trail (decision 59, "The audit trail"). */
export function writeAudit(
  world: World,
  { audit, user }: Account,
  event: Pick<AuditEventRow, 'kind' | 'entity_id' | 'details' | 'api_key_id' | 'client_address'>,
): void {
  audit.push({ no: audit.length + 1, id: newId('aud'), user_id: user.id, ...event, at: world.now() });
}
