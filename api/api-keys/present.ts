import { leftOf } from '../../domain/spending/pots.js';
import type { ApiKeyRow } from '../../adapters/postgres/rows/tables.js';

/**
 * An API key on read. The key itself is in the answer that makes it, and nowhere else.
 * @param row with its sums by now, as countKeys counts them
 */
export function presentApiKey(row: ApiKeyRow) {
  return {
    id: row.id,
    name: row.name,
    hint: row.hint,
    scopes: row.scopes,
    ends: row.ends,
    allowedCidrs: row.allowed_cidrs,
    expiresAt: row.expires_at.toISOString(),
    spendCapCents: row.spend_cap_cents,
    spentCents: row.spent_cents,
    reservedCents: row.reserved_cents,
    leftCents: leftCentsOf(row),
    createdAt: row.created_at.toISOString(),
    lastUsedAt: timeOf(row.last_used_at),
    lastUsedAddress: row.last_used_address,
    revokedAt: timeOf(row.revoked_at),
    suspendedAt: timeOf(row.suspended_at),
  };
}

function leftCentsOf(row: ApiKeyRow): number | null {
  const { spend_cap_cents: limitCents, spent_cents: spentCents, reserved_cents: reservedCents } = row;
  return limitCents === null ? null : leftOf({ limitCents, spentCents, reservedCents });
}

function timeOf(at: Date | null): string | null {
  return at?.toISOString() ?? null;
}
