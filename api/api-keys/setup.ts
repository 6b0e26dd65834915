import { lockKeyInUse } from '../../adapters/postgres/accounts/api-key-list.js';
import type { Database, Transaction } from '../../adapters/postgres/database.js';
import type { ApiKeyRow } from '../../adapters/postgres/rows/tables.js';
import { keyFactsOf } from '../../adapters/postgres/accounts/api-keys.js';
import { noteForUser } from '../../adapters/postgres/notices/user-notices.js';
import { newId } from '../../adapters/ids.js';
import type { SetupAct } from '../../domain/notices/notices.js';
import { lapseOf, refusalOfKey } from '../../domain/accounts/api-key-refusals.js';
import { Refusal } from '../../domain/refusal.js';
import { hearsOfSignIns } from '../../domain/webhooks/webhook.js';
import type { EventType } from '../../domain/events/events.js';
import type { BudgetSettings } from '../../adapters/postgres/spending/budgets.js';
import type { ApiKeyId } from '../../domain/ids.js';
import { callerOf, keyIdOf, type ApiContext } from '../context.js';

/** What a key with the scope `setup` may not do, each with what its holder reads (decision 149, "Keys that set up"). */
export const closedToSetup = {
  sign_in_events:
    'This API key can’t create, change or remove a webhook that hears of sign-ins, passkeys and API keys. Sign in to do it.',
  not_made_by_key: 'This API key did not make this, so only a person who signs in can do this.',
  budget_raised: 'This API key can set a lower budget only. Sign in to raise it, make it soft or remove it.',
} as const;

export type ClosedToSetup = keyof typeof closedToSetup;

/** The refusal of something that the scope `setup` does not cover. */
export function refusalOfSetup(reason: ClosedToSetup): Refusal {
  return new Refusal('key_setup', closedToSetup[reason], { reason });
}

/** Refuses to a key a webhook that hears of sign-ins or keys. @param lists the types of before and after */
export function refuseSignInEvents(
  ctx: ApiContext,
  ...lists: readonly (readonly EventType[] | undefined)[]
): void {
  if (keyIdOf(ctx) === undefined) return;
  if (lists.some((types) => hearsOfSignIns(types ?? []))) throw refusalOfSetup('sign_in_events');
}

/** Refuses to a key what another one, or a session, has made. */
export function refuseUnlessMadeBy(ctx: ApiContext, made: { readonly api_key_id: ApiKeyId | null }): void {
  const keyId = keyIdOf(ctx);
  if (keyId !== undefined && made.api_key_id !== keyId) throw refusalOfSetup('not_made_by_key');
}

/** Refuses to a key a budget that allows more than the one before. */
export function refuseRaiseByKey(ctx: ApiContext, before: BudgetSettings, after: BudgetSettings): void {
  if (keyIdOf(ctx) === undefined) return;
  const limitOf = ({ monthlyCents }: BudgetSettings): number => monthlyCents ?? Number.POSITIVE_INFINITY;
  if (limitOf(after) > limitOf(before) || (before.hard && !after.hard)) throw refusalOfSetup('budget_raised');
}

/**
 * Sets something up in one transaction, as a session, or as a key that it holds from the start: a key that is revoked
 * meanwhile sets nothing up, and whoever revokes it finds all that it made. The key is locked before what it changes, as
 * by who revokes it and by openings (design: rule 5).
 * @throws Refusal key_revoked
 */
export async function settingUp<T>(
  ctx: ApiContext,
  db: Database,
  work: (trx: Transaction) => Promise<T>,
): Promise<T> {
  return db.transaction(async (trx) => {
    await holdKey(trx, ctx);
    return work(trx);
  });
}

/** Locks the key of a request until the transaction ends, alive; nothing for a session. @throws Refusal key_revoked */
async function holdKey(trx: Transaction, ctx: ApiContext): Promise<ApiKeyRow | undefined> {
  const keyId = keyIdOf(ctx);
  if (keyId === undefined) return undefined;
  const key = await lockKeyInUse(trx, callerOf(ctx).userId, keyId);
  const lapse = lapseOf(keyFactsOf(key, false));
  if (lapse) throw refusalOfKey(lapse);
  return key;
}

/**
 * Notes for the account's owner what a key has set up, in the transaction that does it; nothing for a session.
 * @param what the thing in its owner's words
 */
export async function noteSetup(
  trx: Transaction,
  ctx: ApiContext,
  act: SetupAct,
  what: string,
): Promise<void> {
  const key = await holdKey(trx, ctx);
  if (!key) return;
  const cause = { kind: 'setup_acted', actId: newId('chg') } as const;
  const facts = { keyId: key.id, keyName: key.name, act, what };
  await noteForUser(trx, { userId: key.user_id, kind: 'setup_acted', cause, facts });
}
