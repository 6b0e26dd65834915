import type { Database } from '../../../../adapters/postgres/database.js';
import type { ApiKeyId, UserId } from '../../../../domain/ids.js';

/** What each use of a key or a session, each second of a machine, and each page for a payment writes. */
const moving =
  /^(processor_customer_id|attention_at|told_at|retry_at|tries|tried_|due_at|fail|line_|round|state|last_|charged_|held_|hold_|metered|next_|seq$|used_|released_|cursor_)/;

/** The tables of what a user owns, and where each names its owner. */
const owned = {
  ...{ users: 'id', api_keys: 'user_id', auto_topups: 'user_id', billing_details: 'user_id' },
  ...{ budgets: 'user_id', identities: 'user_id', invoices: 'user_id', notice_settings: 'user_id' },
  ...{ rentals: 'user_id', rental_labels: 'user_id', saved_cards: 'user_id', sessions: 'user_id' },
  ...{ ssh_keys: 'user_id', webhooks: 'user_id' },
} as const;

/**
 * All that an owner has and a key of theirs did not make itself: machines, their limits and words, keys, cards, webhooks.
 * What moves by itself is left out.
 */
export async function ownerState(
  db: Database,
  userId: UserId,
  besides: ApiKeyId,
): Promise<Readonly<Record<string, readonly object[]>>> {
  const state: Record<string, object[]> = {};
  for (const [table, owner] of Object.entries(owned)) {
    const rows = (await db(table).where({ [owner]: userId })) as Record<string, unknown>[];
    state[table] = rows
      .filter((row) => row['id'] !== besides && row['api_key_id'] !== besides)
      .map((row) => Object.fromEntries(Object.entries(row).filter(([column]) => !moving.test(column))))
      .sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));
  }
  state['webhook_secrets'] = await db('webhook_secrets').orderBy(['webhook_id', 'no']);
  return state;
}
