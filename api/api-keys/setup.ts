import { lockKeyInUse } from '../../adapters/postgres/accounts/api-key-list.js';
import type { Transaction } from '../../adapters/postgres/database.js';
import { keyFactsOf } from '../../adapters/postgres/accounts/api-keys.js';
import { noteForUser } from '../../adapters/postgres/notices/user-notices.js';
import { newId } from '../../adapters/ids.js';
import type { SetupAct } from '../../domain/notices/notices.js';
import { endOfKey, refusalOfKey } from '../../domain/accounts/api-key-refusals.js';
import { Refusal } from '../../domain/refusal.js';
import { hearsOfSignIns } from '../../domain/webhooks/webhook.js';
import type { EventType } from '../../domain/events/events.js';
import type { BudgetSettings } from '../../adapters/postgres/spending/budgets.js';
import type { ApiKeyId } from '../../domain/ids.js';
import { callerOf, keyIdOf, type ApiContext } from '../context.js';

/** What a key with the scope `setup` may not do, each with what its holder reads (decision 149, "Keys that set up"). */
export const closedToSetup = {
  sign_in_events:
    'This API key can’t create, change or remove a webhook that hears of sign-ins and API keys. Sign in to do it.',
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
export function refuseRaise(ctx: ApiContext, before: BudgetSettings, after: BudgetSettings): void {
  if (keyIdOf(ctx) === undefined) return;
  const limitOf = ({ monthlyCents }: BudgetSettings): number => monthlyCents ?? Number.POSITIVE_INFINITY;
  if (limitOf(after) > limitOf(before) || (before.hard && !after.hard)) throw refusalOfSetup('budget_raised');
}

/**
 * Notes for the account's owner what a key has set up, in the transaction that does it; nothing for a session. A key that
 * is revoked meanwhile sets nothing up, and whoever revokes it finds all that it made.
 * @param what the thing in its owner's words
 * @throws Refusal key_revoked
 */
export async function noteSetup(
  trx: Transaction,
  ctx: ApiContext,
  act: SetupAct,
  what: string,
): Promise<void> {
  const keyId = keyIdOf(ctx);
  if (keyId === undefined) return;
  const { userId } = callerOf(ctx);
  const key = await lockKeyInUse(trx, userId, keyId);
  const end = endOfKey(keyFactsOf(key, false));
  if (end) throw refusalOfKey(end);
  const cause = { kind: 'setup_acted', actId: newId('chg') } as const;
  const facts = { keyId, keyName: key.name, act, what };
  await noteForUser(trx, { userId, kind: 'setup_acted', cause, facts });
}
