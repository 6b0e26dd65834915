import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

/** An OpenID Connect provider on loopback: the certified one of npm, with its own development forms. */
export interface TestIdentityProvider {
  readonly issuerUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The provider's data about each person, by login name. */
  readonly people: Map<string, { email?: string; email_verified?: boolean }>;
  stop(): Promise<void>;
}

const client = { clientId: 'gpu-rental', clientSecret: 'secret-of-the-test-client' };

/**
 * Starts a provider that knows one client. Call `stop` in an `after` hook.
 * @param callbackUrl the only address that it sends people back to
 * @param emailInIdToken false: only the userinfo endpoint returns the address
 */
export async function startIdentityProvider(
  callbackUrl: string,
  emailInIdToken = true,
): Promise<TestIdentityProvider> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuerUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const people: TestIdentityProvider['people'] = new Map();
  const provider = quietly(
    () =>
      new Provider(issuerUrl, {
        clients: [
          {
            client_id: client.clientId,
            client_secret: client.clientSecret,
            redirect_uris: [callbackUrl],
          },
        ],
        claims: { openid: ['sub'], email: ['email', 'email_verified'] },
        conformIdTokenClaims: !emailInIdToken,
        cookies: { keys: ['of the test'] },
        features: { devInteractions: { enabled: true } },
        ttl: { AccessToken: 60, Grant: 60, IdToken: 60, Interaction: 60, Session: 60 },
        pkce: { required: () => true },
        findAccount: (_ctx, id) => ({
          accountId: id,
          claims: () => ({ sub: id, ...people.get(id) }),
        }),
      }),
  );
  const handle = provider.callback();
  server.on('request', (request, response) => void handle(request, response));
  return {
    issuerUrl,
    ...client,
    people,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** Silences the provider's long warning that its forms are not for production. */
function quietly<T>(make: () => T): T {
  const { warn, info } = console;
  Object.assign(console, { warn: () => undefined, info: () => undefined });
  try {
    return make();
  } finally {
    Object.assign(console, { warn, info });
  }
}
