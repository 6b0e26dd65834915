import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';

export { type Registry } from 'prom-client';

/** What every name of ours begins with. */
export const metricPrefix = 'gpu_rental_';

/** The metrics of one process: memory, CPU and event loop to begin with (names without our prefix). */
export function createRegistry(service: 'api' | 'worker'): Registry {
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
