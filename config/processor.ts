import {
  filled,
  itemsOf,
  optional,
  requiredWith,
  trimmed,
  url,
  withDefault,
  withoutSlash,
  type ValuesOf,
} from './variables.js';
import type { apiVariables } from './api.js';

/** The payment processor. Without a secret key billing is disabled (400 `billing_disabled`). */
export const processorVariables = {
  STRIPE_SECRET_KEY: withDefault(trimmed, ''),
  STRIPE_PUBLISHABLE_KEY: requiredWith('STRIPE_SECRET_KEY', filled),
  STRIPE_WEBHOOK_SECRETS: requiredWith(
    'STRIPE_SECRET_KEY',
    filled.pattern(/^\s*[^\s,]+(\s*,\s*[^\s,]+)*\s*$/),
  ),
  STRIPE_API_URL: optional(url()),
  CHECKOUT_SUCCESS_URL: optional(url()),
  CHECKOUT_CANCEL_URL: optional(url()),
};

/** The payment processor's part of the configuration. */
export function processorOf(env: ValuesOf<typeof processorVariables & typeof apiVariables>) {
  const billingPage = `${withoutSlash(env.DASHBOARD_URL)}/app/billing`;
  return {
    /** Empty: billing is disabled. */
    secretKey: env.STRIPE_SECRET_KEY,
    publishableKey: env.STRIPE_PUBLISHABLE_KEY,
    /** Several secrets are valid at once while one is being rotated. */
    webhookSecrets: itemsOf(env.STRIPE_WEBHOOK_SECRETS),
    /** Set only to reach a simulator: scheme, host and port of its API. */
    apiUrl: env.STRIPE_API_URL,
    successUrl: env.CHECKOUT_SUCCESS_URL ?? `${billingPage}?session=success`,
    cancelUrl: env.CHECKOUT_CANCEL_URL ?? `${billingPage}?session=cancel`,
  };
}
