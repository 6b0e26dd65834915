import { Gauge, type Registry } from 'prom-client';
import type { Database } from '../postgres/database.js';
import { knexClientOf } from '../postgres/knex-inside.js';
import { metricPrefix } from './registry.js';

/** Shows the connections of each pool: used, free, and how many callers wait for one; and its size. */
export function watchPools(registry: Registry, pools: Readonly<Record<string, Database>>): void {
  const connections = new Gauge({
    name: `${metricPrefix}pool_connections`,
    help: 'Connections to PostgreSQL by pool and state (used, free); pending: callers that wait for one.',
    labelNames: ['pool', 'state'],
    registers: [registry],
    collect() {
      for (const [pool, db] of Object.entries(pools)) {
        const { pool: tarn } = knexClientOf(db);
        connections.set({ pool, state: 'used' }, tarn.numUsed());
        connections.set({ pool, state: 'free' }, tarn.numFree());
        connections.set({ pool, state: 'pending' }, tarn.numPendingAcquires());
      }
    },
  });
  const size = new Gauge({
    name: `${metricPrefix}pool_connections_max`,
    help: 'Connections that a pool may open.',
    labelNames: ['pool'],
    registers: [registry],
  });
  for (const [pool, db] of Object.entries(pools)) size.set({ pool }, knexClientOf(db).pool.max);
}
