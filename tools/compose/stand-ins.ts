import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { startMailInbox } from '../../lab/mail/index.js';
import { startLabProcessor } from '../../lab/processor/server.js';
import { startLabProvider } from '../../lab/provider/start.js';
import { findFreePorts } from '../../lab/stack/ports.js';

/** The outside services that the service needs: they run on this machine and are not in the compose file. */
export interface StandIns {
  /** The variables of `.env`, so that the compose file's services find them. */
  readonly variables: Readonly<Record<string, string>>;
  readonly urls: {
    readonly api: string;
    readonly mail: string;
    readonly processor: string;
    readonly ui: string;
  };
  close(): Promise<void>;
}

/**
 * Starts the lab's GPU provider, payment processor and mail server at an address that containers reach, and makes up
 * the secrets of an installation.
 * @param host an address of this machine that containers reach too
 */
export async function startStandIns(host: string, folder: string): Promise<StandIns> {
  const secret = (): string => randomBytes(16).toString('hex');
  const [apiPort = 0, uiPort = 0, mailpitPort = 0] = await findFreePorts(3);
  const api = `http://127.0.0.1:${apiPort}`;
  const keys = { provider: secret(), processor: `sk_test_${secret()}`, publishable: `pk_test_${secret()}` };
  const webhook = { url: `${api}/v1/billing/processor/webhook`, secret: `whsec_${secret()}` };
  const inbox = await startMailInbox({ smtpPort: 0, smtpHost: host, httpPort: 0, dataDir: null });
  const provider = await startLabProvider({
    host,
    port: 0,
    apiKey: keys.provider,
    dataDir: join(folder, 'provider'),
  });
  const processor = await startLabProcessor({
    host,
    port: 0,
    webhook,
    secretKey: keys.processor,
    publishableKey: keys.publishable,
    dataDir: join(folder, 'processor'),
  });
  return {
    variables: {
      POSTGRES_PASSWORD: secret(),
      TEMPORAL_DATABASE_PASSWORD: secret(),
      API_DATABASE_PASSWORD: secret(),
      WORKER_DATABASE_PASSWORD: secret(),
      OPS_DATABASE_PASSWORD: secret(),
      DEPLOYMENT: 'compose',
      API_PORT: String(apiPort),
      API_PUBLIC_URL: api,
      TEMPORAL_UI_PORT: String(uiPort),
      TEMPORAL_UI_URL: `http://127.0.0.1:${uiPort}`,
      MAILPIT_PORT: String(mailpitPort),
      DASHBOARD_URL: inbox.url,
      SECURE_COOKIE: 'false',
      TRUST_PROXY: 'false',
      STRIPE_SECRET_KEY: keys.processor,
      STRIPE_PUBLISHABLE_KEY: keys.publishable,
      STRIPE_WEBHOOK_SECRETS: webhook.secret,
      STRIPE_API_URL: processor.url,
      SMTP_URL: inbox.smtpUrl,
      ALLOW_PRIVATE_MACHINES: 'true',
      ALLOW_PRIVATE_WEBHOOKS: 'true',
      PUBLIC_PRICES: 'true',
      LAB_PROVIDER_URL: provider.url,
      LAB_PROVIDER_KEY: keys.provider,
    },
    urls: { api, mail: inbox.url, processor: processor.url, ui: `http://127.0.0.1:${uiPort}` },
    async close() {
      await Promise.all([provider.close(), processor.close(), inbox.close()]);
    },
  };
}
