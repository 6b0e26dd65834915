import { Histogram, type Registry } from 'prom-client';
import { metricPrefix } from './registry.js';

/** A request that was answered. */
export interface AnsweredRequest {
  readonly method: string;
  /** The route's template, such as /v1/rentals/:id; undefined when none matched. */
  readonly route: string | undefined;
  readonly status: number;
  readonly elapsedMs: number;
}

/** Callers choose the method freely: unknown methods are counted together, so that labels stay few. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Counts requests and their latency by route template; a histogram's count is the number of requests. */
export function createRequestMetrics(registry: Registry): (request: AnsweredRequest) => void {
  const seconds = new Histogram({
    name: `${metricPrefix}http_request_seconds`,
    help: 'Requests answered, and how long each took, by route template, method and status.',
    labelNames: ['route', 'method', 'status'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 22, 30],
    registers: [registry],
  });
  return ({ method, route, status, elapsedMs }) => {
    const labels = {
      method: METHODS.has(method) ? method : 'other',
      route: route ?? 'none',
      status: String(status),
    };
    seconds.observe(labels, elapsedMs / 1_000);
  };
}
