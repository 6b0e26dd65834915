import type { Server } from 'node:http';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { pino, type Logger } from 'pino';
import { createIdentityProviders } from '../adapters/identity/providers.js';
import { openDatabase, type Database } from '../adapters/postgres/database.js';
import { createStripeProcessor } from '../adapters/processor/stripe.js';
import { createWebhookVerifier } from '../adapters/processor/webhook.js';
import { readConfig } from '../config.js';
import { createApp } from './app.js';
import { settingsOf } from './settings.js';
import { createTemporalGate, type TemporalGate } from './temporal.js';

/** How long requests under way may take to end once the process is asked to stop. */
const STOP_WITHIN_MS = 25_000;

const config = readConfig();
const log = pino({ level: config.logLevel, base: { service: 'api', pid: process.pid } });
const db = openDatabase(config.database.url, config.database.poolMax, 'api');
const temporal = createTemporalGate(config.temporal);
const { webhookSecrets } = config.processor;

const app = createApp({
  db,
  temporal,
  log,
  settings: settingsOf(config),
  processor: createStripeProcessor(config.processor),
  verifyWebhook: webhookSecrets.length === 0 ? null : createWebhookVerifier({ secrets: webhookSecrets }),
  identityProviders: createIdentityProviders(config.identity),
});
const handle = app.callback();
const server = createServer((request, response) => void handle(request, response));
// A body that never ends would hold its connection for minutes otherwise.
server.requestTimeout = 30_000;
server.listen(config.api.port, config.api.host);
await once(server, 'listening');
log.info({ host: config.api.host, port: config.api.port }, 'api ready');

let stopping = false;
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    if (stopping) return;
    stopping = true;
    void stop(signal, { server, db, temporal, log });
  });
}

/** Takes no new requests, lets those under way end, and closes what they worked with. */
async function stop(
  signal: string,
  held: { server: Server; db: Database; temporal: TemporalGate; log: Logger },
): Promise<void> {
  held.log.info({ signal }, 'api stopping');
  const hurry = setTimeout(() => held.server.closeAllConnections(), STOP_WITHIN_MS);
  const closed = once(held.server, 'close');
  held.server.close();
  held.server.closeIdleConnections();
  await closed;
  clearTimeout(hurry);
  await Promise.allSettled([held.db.destroy(), held.temporal.close()]);
  held.log.info('api stopped');
}
