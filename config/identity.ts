import type { ClientCredentials } from '../adapters/identity/authorization-code.js';
import type { IdentitySettings } from '../adapters/identity/providers.js';
import { filled, requiredWith, text, trimmed, withDefault, type ValuesOf } from './variables.js';

/** ID tokens are worth as much as the connection to their issuer: without TLS only on this machine. */
const issuer = text
  .trim()
  .uri({ scheme: ['https', 'http'] })
  .pattern(/^(https:|http:\/\/(127\.0\.0\.1|\[::1\]|localhost)([:/]|$))/, 'https, or http on loopback');

/**
 * The identity providers for signing in (decision 11, "Sign-in elsewhere"). A provider with half of its variables is a
 * fault; one with none of them is disabled.
 */
export const identityVariables = {
  GOOGLE_CLIENT_ID: withDefault(trimmed, ''),
  GOOGLE_CLIENT_SECRET: requiredWith('GOOGLE_CLIENT_ID', filled),
  GITHUB_CLIENT_ID: withDefault(trimmed, ''),
  GITHUB_CLIENT_SECRET: requiredWith('GITHUB_CLIENT_ID', filled),
  OIDC_CLIENT_ID: withDefault(trimmed, ''),
  OIDC_CLIENT_SECRET: requiredWith('OIDC_CLIENT_ID', filled),
  OIDC_ISSUER_URL: requiredWith('OIDC_CLIENT_ID', issuer),
  OIDC_NAME: withDefault(filled.max(40), 'Single sign-on'),
};

/** The identity providers that their credentials enable; null for each other one. */
export function identityOf(env: ValuesOf<typeof identityVariables>): IdentitySettings {
  const oidc = credentials(env.OIDC_CLIENT_ID, env.OIDC_CLIENT_SECRET);
  return {
    google: credentials(env.GOOGLE_CLIENT_ID, env.GOOGLE_CLIENT_SECRET),
    github: credentials(env.GITHUB_CLIENT_ID, env.GITHUB_CLIENT_SECRET),
    oidc: oidc && { ...oidc, issuerUrl: env.OIDC_ISSUER_URL, name: env.OIDC_NAME },
  };
}

function credentials(clientId: string, clientSecret: string): ClientCredentials | null {
  return clientId === '' ? null : { clientId, clientSecret };
}
