import assert from 'node:assert/strict';
import { createIdentityProviders } from '../../../adapters/identity/providers.js';
import { defaultSettings } from '../../../api/settings.js';
import { startApi, type ApiOptions, type TestApi } from '../../support/http/api.js';

const credentials = { clientId: 'client', clientSecret: 'secret' };
const oidc = { ...credentials, issuerUrl: 'https://id.example.com', name: 'Work' };

describe('the ways to sign in elsewhere', () => {
  let api: TestApi;

  before(async () => {
    const identityProviders = createIdentityProviders({ google: credentials, github: credentials, oidc });
    api = await startApi({ identityProviders });
  });
  after(() => api.stop());

  /** The answer to a start at GitHub, whose page is known without a request to it. */
  async function startAt(settings: NonNullable<ApiOptions['settings']>): Promise<Headers> {
    const { databaseUrl, deps } = api;
    const { identityProviders } = deps;
    const other = await startApi({ settings, databaseUrl, identityProviders });
    try {
      const answer = await other.stranger().get('/v1/auth/oauth/github/start');
      assert.equal(answer.status, 302);
      return answer.headers;
    } finally {
      await other.stop();
    }
  }

  it('are listed by id and name, without a secret, to whoever asks', async () => {
    const answer = await api.stranger().get('/v1/auth/providers');
    assert.deepEqual(answer.body, {
      providers: [
        { id: 'google', name: 'Google' },
        { id: 'github', name: 'GitHub' },
        { id: 'oidc', name: 'Work' },
      ],
    });
  });

  it('keep the browser’s cookie to the routes of sign-ins, and Secure outside local development', async () => {
    const headers = await startAt({ secureCookie: defaultSettings.secureCookie });
    const attributes = /; Path=\/v1\/auth\/oauth; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/;
    assert.match(headers.getSetCookie()[0]!, attributes);
  });

  it('work behind a proxy that serves the API in a folder', async () => {
    const headers = await startAt({ publicUrl: 'https://example.com/api' });
    assert.match(headers.getSetCookie()[0]!, /; Path=\/api\/v1\/auth\/oauth;/);
    const page = new URL(headers.get('location')!);
    const callback = page.searchParams.get('redirect_uri');
    assert.equal(callback, 'https://example.com/api/v1/auth/oauth/github/callback');
  });

  it('refuse unknown parameters and other methods', async () => {
    const unknown = await api.stranger().get('/v1/auth/oauth/github/start?x=1');
    assert.deepEqual([unknown.status, unknown.body.error], [400, 'validation_failed']);
    const posted = await api.stranger().post('/v1/auth/oauth/github/callback', {});
    assert.deepEqual([posted.status, posted.body.error], [405, 'method_not_allowed']);
  });
});
