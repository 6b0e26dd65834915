import { queryOptions } from '@tanstack/react-query';
import { api } from './client.js';

/** Whether the saved card is charged by itself, and when. */
export const autoTopupQuery = queryOptions({
  queryKey: ['autoTopup'],
  queryFn: ({ signal }) => api.autoTopup.get({ signal }),
});

type SaveAutoTopup = typeof api.autoTopup.save;

/** What is stored; a field that is left out stays as it is. */
export type AutoTopupSettings = Parameters<SaveAutoTopup>[0];
/** What was stored, with the service's warnings for people. */
export type StoredAutoTopup = Awaited<ReturnType<SaveAutoTopup>>;

export function saveAutoTopup(settings: AutoTopupSettings): Promise<StoredAutoTopup> {
  return api.autoTopup.save(settings);
}
