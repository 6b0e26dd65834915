import assert from 'node:assert/strict';
import type { IdentityProvider } from '../../../adapters/identity/identity.js';
import { ApiClient, startApi, type TestApi } from './api.js';
import { Browser, type Page } from './browser.js';

/** The public address of the API and the dashboard. The API listens at another one. */
export const publicUrl = 'http://api.test';
export const dashboardUrl = 'http://dashboard.test';

/** The API with identity providers, and browsers that sign in with them. */
export class SigningIn {
  private constructor(readonly api: TestApi) {}

  static async start(identityProviders: readonly IdentityProvider[]): Promise<SigningIn> {
    return new SigningIn(await startApi({ settings: { publicUrl, dashboardUrl }, identityProviders }));
  }

  browser(): Browser {
    return new Browser({ [publicUrl]: this.api.url });
  }

  /** Begins a sign-in: the answer redirects to the provider. */
  begin(browser: Browser, provider: string, returnTo?: string): Promise<Page> {
    const query = returnTo === undefined ? '' : `?returnTo=${encodeURIComponent(returnTo)}`;
    return browser.get(`${publicUrl}/v1/auth/oauth/${provider}/start${query}`);
  }

  /** A client of the API with the browser's session. */
  client(browser: Browser): ApiClient {
    return new ApiClient(this.api.url, browser.cookie(publicUrl, 'sid'));
  }

  async emailOf(browser: Browser): Promise<string> {
    const me = await this.client(browser).get('/v1/auth/me');
    assert.equal(me.status, 200);
    return me.body.user.email;
  }

  assertSignedOut(browser: Browser): void {
    assert.equal(browser.cookie(publicUrl, 'sid'), undefined);
  }
}

export function callbackUrlOf(provider: string): string {
  return `${publicUrl}/v1/auth/oauth/${provider}/callback`;
}

/** The address of the page for a failed sign-in. */
export function signInPage(error: string): string {
  return `${dashboardUrl}/login?error=${error}`;
}
