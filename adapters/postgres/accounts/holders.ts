import type { ApiKeyId } from '../../../domain/ids.js';
import type { Database } from '../database.js';

/** The session or the API key whose end ends the answers that it is being sent: streams, files and all others. */
export type Holder =
  | { readonly kind: 'session'; readonly tokenHash: Buffer }
  | { readonly kind: 'key'; readonly keyId: ApiKeyId };

/** Whether the session `s` or the key `k` lives. */
export const holderLives = `(s.expires_at > clock_ms() or (k.ended_at > clock_ms() and k.suspended_at is null))`;

/** A holder as it was when its answer began. */
export type HeldBy =
  | Extract<Holder, { kind: 'session' }>
  | (Extract<Holder, { kind: 'key' }> & {
      /** The client's address; undefined when a proxy sent a text that is no address. */
      readonly address: string | undefined;
      readonly isCapped: boolean;
    });

/**
 * Asks whether each holder may still have what it is being sent: it lives, its session has the same token, and its key
 * holds for this address and has a cap as before.
 * @returns an answer for each, in their order
 */
export async function askHolders(db: Database, holders: readonly HeldBy[]): Promise<boolean[]> {
  const { rows } = await db.raw<{ rows: { held: boolean }[] }>(
    `select coalesce(${holderLives} and (k.id is null or (
              (k.spend_cap_cents is not null) = h.is_capped
              and (k.allowed_cidrs is null or coalesce(h.address <<= any (k.allowed_cidrs::inet[]), false)))), false) as held
       from unnest(:hashes::bytea[], :keyIds::text[], :addresses::inet[], :capped::boolean[])
              with ordinality as h (token_hash, key_id, address, is_capped, nth)
       left join sessions s on s.token_hash = h.token_hash
       left join api_keys k on k.id = h.key_id
      order by h.nth`,
    {
      hashes: holders.map((holder) => (holder.kind === 'session' ? holder.tokenHash : null)),
      keyIds: holders.map((holder) => (holder.kind === 'key' ? holder.keyId : null)),
      addresses: holders.map((holder) => (holder.kind === 'key' ? (holder.address ?? null) : null)),
      capped: holders.map((holder) => (holder.kind === 'key' ? holder.isCapped : null)),
    },
  );
  return rows.map(({ held }) => held);
}
