import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Who collects the traces, as a collector of OpenTelemetry's does. */
export interface Collector {
  /** OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly endpoint: string;
  /** The processes' kinds that have sent none. */
  missing(): string[];
  stop(): Promise<void>;
}

const services = ['gpu-rental-api', 'gpu-rental-worker'];

/** Listens on loopback, and notes whose traces came. */
export async function startCollector(): Promise<Collector> {
  const missing = new Set(services);
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      // A protobuf holds texts as they are.
      const text = Buffer.concat(parts).toString('latin1');
      if (request.url === '/v1/traces')
        services.filter((name) => text.includes(name)).forEach((name) => missing.delete(name));
      response.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    missing: () => [...missing],
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
