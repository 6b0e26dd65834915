import type { apiVariables } from './api.js';
import type { softwareVariables } from './software.js';
import { itemsOf, text, trimmed, withDefault, withoutSlash, yesOrNo, type ValuesOf } from './variables.js';

/** 32 bytes in base64. */
const key = '[A-Za-z0-9+/]{43}=';

/** The keys that seal and open the secrets of webhooks. Without them webhooks are disabled (400 `webhooks_disabled`). */
export const webhookVariables = {
  /** For trials alone: endpoints may be on loopback and on private addresses, over http and any port. */
  ALLOW_PRIVATE_WEBHOOKS: withDefault(yesOrNo, false),
  WEBHOOK_PUBLIC_KEY: withDefault(
    text
      .trim()
      .allow('')
      .pattern(new RegExp(`^(${key})?$`), '32 bytes in base64'),
    '',
  ),
  WEBHOOK_PRIVATE_KEYS: withDefault(
    trimmed.pattern(new RegExp(`^(${key}(\\s*,\\s*${key})*)?$`), '32 bytes in base64, comma-separated'),
    '',
  ),
};

/** The part of the configuration that is about webhooks to users. */
export function webhooksOf(
  env: ValuesOf<typeof webhookVariables & typeof apiVariables & typeof softwareVariables>,
) {
  const allowPrivate = env.ALLOW_PRIVATE_WEBHOOKS;
  const own = [
    ...[env.API_PUBLIC_URL, env.DASHBOARD_URL, env.MACHINE_URL, ...itemsOf(env.ALLOWED_ORIGINS)],
    ...itemsOf(env.ALLOWED_HOSTS).map((host) => `https://${host}`),
  ].filter((url) => url !== null);
  return {
    /** The API seals with it; empty: webhooks are disabled. */
    publicKey: env.WEBHOOK_PUBLIC_KEY,
    /** The worker opens with them: the first is the pair of the public key, the others open what is older. */
    privateKeys: itemsOf(env.WEBHOOK_PRIVATE_KEYS),
    /** False: only https to public addresses is possible. */
    allowPrivate,
    /** Nothing is sent to these. Where private addresses are allowed all may be on one host, and the port counts. */
    ownHosts: [...new Set(own.flatMap((url) => hostsOf(withoutSlash(url), allowPrivate)))],
  };
}

function hostsOf(url: string, withPort: boolean): string[] {
  if (!URL.canParse(url)) return [];
  const { host, hostname } = new URL(url);
  return withPort ? [host] : [hostname];
}
