import type { components } from '@gpu-rental/client';
import { infiniteQueryOptions } from '@tanstack/react-query';
import { api } from './client.js';

export type AuditKind = components['schemas']['AuditKind'];

/** What was done to the account, newest first, page by page. */
export const auditQuery = (kind: AuditKind | undefined) =>
  infiniteQueryOptions({
    queryKey: ['audit', kind],
    queryFn: ({ pageParam, signal }) =>
      api.audit.list({ pageSize: 50, ...(kind !== undefined && { kind }) }, { signal }).page(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });
