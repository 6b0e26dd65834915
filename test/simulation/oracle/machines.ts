import type { Evidence } from './evidence.js';

/** Decision 22: each bought machine is ended once nobody rents it. */
export async function judgeMachines({ ask, machines, nowMs }: Evidence): Promise<string[]> {
  const live = await ask<{ tag: string }>(`select tag from rentals where closed_at is null`);
  const tags = new Set(live.map(({ tag }) => tag));
  return machines
    .filter(({ tag, goneMs }) => !tags.has(tag) && (goneMs === undefined || goneMs > nowMs))
    .map(
      ({ podId, tag, toldMs }) =>
        `machine ${podId} (${tag}) is rented by nobody and runs on; told: ${String(toldMs !== undefined)}`,
    );
}
