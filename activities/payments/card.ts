import { tieToMarks } from '../../adapters/postgres/accounts/account-ties.js';
import {
  listUnhandledEvents,
  markHandled,
  type WaitingEvent,
} from '../../adapters/postgres/payments/event-handling.js';
import { isCustomerOf } from '../../adapters/postgres/payments/payers.js';
import {
  findCard,
  markDetached,
  refreshCard,
  saveCard,
} from '../../adapters/postgres/payments/saved-cards.js';
import { ProcessorError, type Card } from '../../adapters/processor/processor.js';
import { isId, type UserId } from '../../domain/ids.js';
import type { EventLook } from '../../workflows/contracts/events.js';
import type { ActivityDeps } from '../deps.js';
import { signalCards } from './settle-payment.js';

/** The activities of saved cards: each card is brought to what the processor, its owner and its successors say. */
export function createCardActivities(deps: ActivityDeps) {
  return {
    /**
     * Saves a card whose setup succeeded, notices that one is gone or was renewed, and detaches one that was removed
     * here.
     * @param pmId the payment method's id
     */
    async lookAtCard(pmId: string): Promise<EventLook> {
      return advanceCard(deps, pmId);
    },
  };
}

async function advanceCard(deps: ActivityDeps, pmId: string): Promise<EventLook> {
  const { db } = deps;
  const row = await findCard(db, pmId);
  const events = await listUnhandledEvents(db, pmId);
  if (row === undefined) await saveNew(deps, pmId, events);
  else if (row.detached_at === null && events.length > 0) await refresh(deps, pmId);
  await detachWhenRemoved(deps, pmId);
  const saved = await findCard(db, pmId);
  if (saved) await tieToMarks(db, saved.user_id, deps.settings.installationKey);
  await markHandled(db, events, 'the card was brought up to date');
  return lookOf(deps, pmId);
}

async function saveNew(deps: ActivityDeps, pmId: string, events: readonly WaitingEvent[]): Promise<void> {
  const setups = events.filter(({ kind }) => kind === 'setup_intent.succeeded');
  if (setups.length === 0) return;
  const card = await findAttached(deps, pmId);
  const owned = card && (await findOwned(deps, setups, card));
  if (card === undefined || owned === undefined) {
    const eventIds = setups.map(({ id }) => id);
    deps.log.warn({ pmId, eventIds }, 'a card that was set up is nobody’s here, or is gone again');
    return;
  }
  const { userId, setup } = owned;
  const removed = await saveCard(deps.db, { userId, card, setUpAt: setup.created_at });
  await signalCards(
    deps,
    removed.filter((id) => id !== pmId),
  );
}

/** Finds the first setup whose metadata name the user to whose own customer the card belongs. */
async function findOwned(
  deps: ActivityDeps,
  setups: readonly WaitingEvent[],
  { customerId }: Card,
): Promise<{ userId: UserId; setup: WaitingEvent } | undefined> {
  if (customerId === null) return undefined;
  for (const setup of setups) {
    const { user_id: userId } = (setup.object['metadata'] ?? {}) as Record<string, unknown>;
    if (typeof userId !== 'string' || !isId('usr', userId)) continue;
    if (await isCustomerOf(deps.db, userId, customerId)) return { userId, setup };
  }
  return undefined;
}

async function refresh(deps: ActivityDeps, pmId: string): Promise<void> {
  const card = await findAttached(deps, pmId);
  if (card === undefined) await markDetached(deps.db, pmId);
  else await refreshCard(deps.db, card);
}

/** Reads the card at the processor; undefined when it is detached or unknown there. */
async function findAttached(deps: ActivityDeps, pmId: string): Promise<Card | undefined> {
  try {
    const card = await deps.processor.getCard(pmId);
    return card.customerId === null ? undefined : card;
  } catch (error) {
    if (error instanceof ProcessorError && error.details.code === 'resource_missing') return undefined;
    throw error;
  }
}

async function detachWhenRemoved(deps: ActivityDeps, pmId: string): Promise<void> {
  const row = await findCard(deps.db, pmId);
  if (row === undefined || row.removed_at === null || row.detached_at !== null) return;
  await deps.processor.detachCard(pmId);
  await markDetached(deps.db, pmId);
}

async function lookOf(deps: ActivityDeps, pmId: string): Promise<EventLook> {
  const row = await findCard(deps.db, pmId);
  if (row === undefined) return { state: 'missing', status: 'missing', summary: 'not a saved card of ours' };
  const status = row.removed_at === null ? 'saved' : `removed: ${row.removed_why ?? ''}`;
  return { state: 'closed', status, summary: status };
}
