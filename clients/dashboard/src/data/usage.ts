import type { Rental } from '@gpu-rental/client';
import { queryOptions } from '@tanstack/react-query';
import { api } from './client.js';

/** How busy a rental's machine was in the last day. */
export const telemetryQuery = (id: string) =>
  queryOptions({
    queryKey: ['rental', id, 'telemetry'],
    queryFn: ({ signal }) => api.rentals.telemetry(id, {}, { signal }),
  });

/** Keeps an idle machine running until then. */
export const keepAlive = (id: string, until: Date): Promise<Rental> => api.rentals.keepAlive(id, until);
