import type { ClientCredentials } from './adapters/identity/authorization-code.js';
import type { IdentitySettings } from './adapters/identity/providers.js';

type ClientVariable = `${'GOOGLE' | 'GITHUB' | 'OIDC'}_CLIENT_${'ID' | 'SECRET'}`;

/** What config.ts has read and validated about sign-in elsewhere. */
export type IdentityEnv = Readonly<Record<ClientVariable | 'OIDC_ISSUER_URL' | 'OIDC_NAME', string>>;

/** The providers of sign-ins that are enabled by their credentials; null for each that is not. */
export function identityOf(value: IdentityEnv): IdentitySettings {
  const oidc = credentials(value.OIDC_CLIENT_ID, value.OIDC_CLIENT_SECRET);
  return {
    google: credentials(value.GOOGLE_CLIENT_ID, value.GOOGLE_CLIENT_SECRET),
    github: credentials(value.GITHUB_CLIENT_ID, value.GITHUB_CLIENT_SECRET),
    oidc: oidc && { ...oidc, issuerUrl: value.OIDC_ISSUER_URL, name: value.OIDC_NAME },
  };
}

function credentials(clientId: string, clientSecret: string): ClientCredentials | null {
  return clientId === '' ? null : { clientId, clientSecret };
}
