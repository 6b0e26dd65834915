import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';

/** Reads all metrics of a process, as Prometheus' text format. */
export type Scrape = () => Promise<string>;

export interface MetricsListener {
  readonly port: number;
  close(): Promise<void>;
}

/** Reads the faults of a process, in words. Never rejects. */
export type FindFaults = () => Promise<readonly string[]>;

/**
 * Serves `GET /metrics` on an address of its own, never on the public one (decision 66, "Reading of metrics"): the
 * figures are for the operator alone.
 * @param options.port 0 takes any free one
 * @param options.findFaults serves `GET /readyz` too: 200 without faults, else 503 with one a line
 */
export async function startMetricsListener(options: {
  readonly host: string;
  readonly port: number;
  readonly scrape: Scrape;
  readonly findFaults?: FindFaults;
  readonly log: Logger;
}): Promise<MetricsListener> {
  const { host, port, scrape, findFaults, log } = options;
  const server = createServer((request, response) => {
    const asked = `${request.method ?? ''} ${request.url ?? ''}`;
    if (asked === 'GET /metrics') void answer(response, scrape, log);
    else if (asked === 'GET /healthz') respond(response, 200, 'alive\n');
    else if (asked === 'GET /readyz' && findFaults) void answerReadiness(response, findFaults);
    else respond(response, 404, `Only GET /metrics, /healthz${findFaults ? ' and /readyz' : ''} are here.\n`);
  });
  server.requestTimeout = 10_000;
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  log.info({ host, port: address.port }, 'metrics ready');
  return {
    port: address.port,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(response: ServerResponse, scrape: Scrape, log: Logger): Promise<void> {
  try {
    respond(response, 200, await scrape());
  } catch (error) {
    log.error({ err: error }, 'the metrics could not be read');
    respond(response, 500, 'The metrics could not be read; the log says why.\n');
  }
}

async function answerReadiness(response: ServerResponse, findFaults: FindFaults): Promise<void> {
  const faults = await findFaults();
  if (faults.length === 0) respond(response, 200, 'ready\n');
  else respond(response, 503, faults.map((fault) => `${fault}\n`).join(''));
}

function respond(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' }).end(text);
}
