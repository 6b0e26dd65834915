/** The payment processor. An empty secretKey means that billing is disabled (400 `billing_disabled`). */
export interface ProcessorConfig {
  readonly secretKey: string;
  readonly publishableKey: string;
  /** Several secrets are valid at once while one is being rotated. */
  readonly webhookSecrets: readonly string[];
  /** Set only to reach a simulator: scheme, host and port of its API. */
  readonly apiUrl: string | null;
  readonly successUrl: string;
  readonly cancelUrl: string;
}

/** What of the environment decides it. */
export interface ProcessorEnv {
  DASHBOARD_URL: string;
  STRIPE_SECRET_KEY: string;
  STRIPE_PUBLISHABLE_KEY: string;
  STRIPE_API_URL?: string;
  CHECKOUT_SUCCESS_URL?: string;
  CHECKOUT_CANCEL_URL?: string;
}

/** The payment processor as the environment, which was validated before, decides it. */
export function processorOf(value: ProcessorEnv, webhookSecrets: readonly string[]): ProcessorConfig {
  const dashboard = value.DASHBOARD_URL.replace(/\/$/, '');
  return {
    secretKey: value.STRIPE_SECRET_KEY,
    publishableKey: value.STRIPE_PUBLISHABLE_KEY,
    webhookSecrets,
    apiUrl: value.STRIPE_API_URL ?? null,
    successUrl: value.CHECKOUT_SUCCESS_URL ?? `${dashboard}/app/billing?session=success`,
    cancelUrl: value.CHECKOUT_CANCEL_URL ?? `${dashboard}/app/billing?session=cancel`,
  };
}
