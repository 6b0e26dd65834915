import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import type { CDPSession, Page } from 'playwright-core';
import { buildDashboard } from '../../support/dashboard/built.js';
import { DashboardLab, visit, type Visitor } from '../../support/dashboard/dashboard.js';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';

/** A page and the service that it belongs to, with the authenticator of a browser's own. */
describe('passkeys in a browser', function () {
  this.timeout(120_000);
  let api: TestApi;
  let origin: string;
  let user: SignedIn;
  let visitor: Visitor;
  let page: Page;
  let devices: CDPSession;
  let device: string;
  before(async () => {
    const port = await freePort();
    // Browsers make no passkey for an address of digits.
    origin = `http://localhost:${port}`;
    const settings = { publicUrl: origin, dashboardUrl: origin, allowedOrigins: [origin] };
    api = await startApi({ port, settings, dashboardFolder: await buildDashboard() });
  });
  after(() => api.stop());
  beforeEach(async () => {
    user = await api.signIn();
    visitor = await visit(origin, { isSecure: true });
    page = visitor.page;
    await visitor.context.addCookies([{ name: 'sid', value: user.sid ?? '', url: origin }]);
    devices = await visitor.context.newCDPSession(page);
    await devices.send('WebAuthn.enable');
    device = await plugIn();
  });
  afterEach(() => visitor.close());

  async function plugIn(): Promise<string> {
    const options = { protocol: 'ctap2', transport: 'internal', automaticPresenceSimulation: true } as const;
    const person = { hasResidentKey: true, hasUserVerification: true, isUserVerified: true };
    const added = await devices.send('WebAuthn.addVirtualAuthenticator', {
      options: { ...options, ...person },
    });
    return added.authenticatorId;
  }
  const button = (name: string | RegExp) => page.getByRole('button', { name });
  const dialog = () => page.getByRole('dialog');
  const held = async () =>
    (await devices.send('WebAuthn.getCredentials', { authenticatorId: device })).credentials;

  async function add(name: string): Promise<void> {
    await visitor.open('/app/sessions');
    await button('Add a passkey').click();
    await dialog().getByRole('textbox', { name: 'Name' }).fill(name);
    await dialog().getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('status').getByText(`Passkey “${name}” added`).waitFor();
  }

  it('are added, sign in without an address, prove who it is, and are named and removed', async () => {
    await add('MacBook');
    assert.equal((await held()).length, 1);
    await visitor.context.clearCookies();
    await suggestNothing();
    await visitor.open('/login');
    await button('Sign in with a passkey').click();
    await isSignedIn();
    await api.db('sessions').where({ user_id: user.user.id }).update({ proved_at: null });
    await visitor.open('/app/api-keys');
    await button('Create a key').first().click();
    await dialog().getByRole('textbox', { name: 'Name' }).fill('mine');
    await dialog().getByRole('button', { name: 'Create a key' }).click();
    await page.getByRole('dialog', { name: 'Confirm that it is you' }).waitFor();
    await button('Use a passkey').click();
    await page.getByRole('heading', { name: 'Copy the key now' }).waitFor();
    assert.equal((await api.db('proof_codes').where({ user_id: user.user.id })).length, 0);

    await visitor.open('/app/sessions');
    await button('Rename passkey MacBook').click();
    await dialog().getByRole('textbox', { name: 'Name' }).fill('Work');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await button('Remove passkey Work').click();
    await dialog().getByRole('button', { name: 'Remove' }).click();
    await page.getByText('No passkeys yet').waitFor();
    assert.deepEqual(await api.db('passkeys').where({ user_id: user.user.id }), []);
    assert.deepEqual(visitor.complaints, []);
  });

  async function isSignedIn(): Promise<void> {
    await page.waitForURL('**/app');
    const me = await visitor.ask<{ user: { id: string } }>('GET', '/v1/auth/me');
    assert.equal(me.user.id, user.user.id);
  }
  /** A browser that shows passkeys by a button alone. */
  const suggestNothing = () =>
    page.addInitScript({
      content: 'PublicKeyCredential.isConditionalMediationAvailable = () => Promise.resolve(false);',
    });

  it('are suggested by the browser where it suggests addresses', async () => {
    await add('MacBook');
    await visitor.context.clearCookies();
    // The authenticator chooses the only one that is suggested.
    await page.goto('/login');
    await isSignedIn();
  });

  it('say in plain words that this device has none, and that it has one already', async () => {
    await visitor.context.clearCookies();
    await suggestNothing();
    await visitor.open('/login');
    await button('Sign in with a passkey').click();
    await page
      .getByRole('alert')
      .getByText(/this device has none for your account/)
      .waitFor();
    await page.getByRole('alert').getByText('use a code by email').waitFor();
    await visitor.context.addCookies([{ name: 'sid', value: user.sid ?? '', url: origin }]);
    await add('one');
    await button('Add a passkey').click();
    await dialog().getByRole('button', { name: 'Continue' }).click();
    await dialog().getByText('This device already has a passkey for your account.').waitFor();
  });

  it('leave the way by a mailed code', async () => {
    await add('one');
    await api.db('sessions').where({ user_id: user.user.id }).update({ proved_at: null });
    await page.reload();
    await button('Add a passkey').click();
    await dialog().getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('dialog', { name: 'Confirm that it is you' }).waitFor();
    await button('Email me a code instead').click();
    await page.getByText(/We emailed a six-digit code/).waitFor();
  });

  it('are not offered on a page whose address is digits', async () => {
    const lab = await DashboardLab.start();
    try {
      const elsewhere = await lab.visit({ isSecure: true });
      await elsewhere.open('/login');
      const signIn = elsewhere.page.getByRole('button', { name: 'Sign in with a passkey' });
      assert.equal(await signIn.count(), 0);
      await elsewhere.signIn();
      await elsewhere.open('/app/sessions');
      await elsewhere.page.getByText('This browser can’t add passkeys on this page.').waitFor();
    } finally {
      await lab.stop();
    }
  });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
