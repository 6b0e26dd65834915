import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';

export { type Registry } from 'prom-client';

/** The prefix of every name of ours. */
export const metricPrefix = 'gpu_rental_';

/** Makes the metrics of one process; it begins with memory, CPU and event loop (names without our prefix). */
export function createRegistry(service: 'api' | 'worker' | 'listener'): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: `${metricPrefix}process`,
    help: 'Always 1; the label says which program this is.',
    labelNames: ['service'],
    registers: [registry],
  }).set({ service }, 1);
  return registry;
}
