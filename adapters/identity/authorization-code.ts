import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  ClientSecretBasic,
  ClientSecretPost,
  type ClientAuth,
  type Configuration,
} from 'openid-client';
import type { IdentityAnswer, IdentityRequest } from './identity.js';

/** Our account at an identity provider. */
export interface ClientCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** For each single request. */
export const defaultTimeoutMs = 5_000;

/** Makes the page of the authorization code flow with PKCE (RFC 6749 4.1.1, RFC 7636 4.3). */
export async function signInPage(
  config: Configuration,
  scope: string,
  request: IdentityRequest,
  more: Readonly<Record<string, string>> = {},
): Promise<URL> {
  return buildAuthorizationUrl(config, {
    redirect_uri: request.callbackUrl,
    scope,
    state: request.state,
    code_challenge: await calculatePKCECodeChallenge(request.codeVerifier),
    code_challenge_method: 'S256',
    ...more,
  });
}

/** Trades the code of a callback for tokens, after it has checked the callback against what we had sent. */
export function tradeCode(
  config: Configuration,
  answer: IdentityAnswer,
  checks: { readonly expectedNonce?: string } = {},
): ReturnType<typeof authorizationCodeGrant> {
  const url = new URL(answer.callbackUrl);
  url.search = answer.query;
  return authorizationCodeGrant(config, url, {
    expectedState: answer.state,
    pkceCodeVerifier: answer.codeVerifier,
    ...checks,
  });
}

/** Sends the secret in the body where the provider lists it; else in a header, which all must take (RFC 6749 2.3.1). */
export function clientAuth(clientSecret: string): ClientAuth {
  const post = ClientSecretPost(clientSecret);
  const basic = ClientSecretBasic(clientSecret);
  return (server, client, body, headers) => {
    const listed = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const auth = listed.includes('client_secret_post') ? post : basic;
    auth(server, client, body, headers);
  };
}
