import type { Card } from '@gpu-rental/client';
import { queryOptions } from '@tanstack/react-query';
import { api } from './client.js';

/** The saved card; all its fields are null where there is none. */
export const cardQuery = queryOptions({
  queryKey: ['card'],
  queryFn: ({ signal }) => api.card.get({ signal }),
});

/** A card that is there. */
export interface SavedCard {
  readonly pmId: string;
  readonly brand: string | null;
  readonly last4: string | null;
  readonly expMonth: number | null;
  readonly expYear: number | null;
}

/** The card itself, where one is saved. */
export function savedCard(card: Card | undefined): SavedCard | undefined {
  if (card === undefined || card.pmId === null) return undefined;
  return { ...card, pmId: card.pmId };
}

/** Forgets the card. */
export function removeCard(): Promise<void> {
  return api.card.delete();
}

/**
 * Begins the saving of a card, once for a document: its secret belongs to one form.
 * @returns what the form needs, and the card that is saved before it
 */
export const beginCardSetupQuery = queryOptions({
  queryKey: ['cardSetup'],
  queryFn: async ({ signal }) => {
    const { pmId } = await api.card.get({ signal });
    return { before: pmId, setup: await api.card.setUp({ signal }) };
  },
  staleTime: Infinity,
  gcTime: Infinity,
  refetchOnWindowFocus: false,
  refetchOnReconnect: false,
});
