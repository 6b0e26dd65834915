import assert from 'node:assert/strict';
import type { ApiKey } from '@gpu-rental/client';
import type { Page } from 'playwright-core';
import { apiKeyState } from '../../clients/dashboard/src/pages/api-keys/state.js';
import { capOf, changeOf, cidrsOf, fieldsOf } from '../../clients/dashboard/src/pages/api-keys/form.js';
import { DashboardLab, type Visitor } from '../support/dashboard/dashboard.js';
import { assertReadAgain, failedRequest } from '../support/dashboard/failures.js';
import { Purse } from '../support/dashboard/paying.js';
import { until } from '../support/until.js';

const key: ApiKey = {
  ...{ id: 'key_1', name: 'runs', hint: 'a1Zx', scopes: ['read'], ends: 'all', allowedCidrs: null },
  ...{ expiresAt: '2027-01-30T00:00:00.000Z', spendCapCents: 5_000, spentCents: 0, reservedCents: 0 },
  ...{ createdAt: '2026-11-01T00:00:00.000Z', lastUsedAt: null, lastUsedAddress: null },
  ...{ revokedAt: null, suspendedAt: null, leftCents: 5_000 },
};

describe('the fields of an API key', () => {
  it('are read as cents and as addresses', () => {
    assert.equal(capOf(' '), null);
    assert.equal(capOf('$1,000.50'), 100_050);
    for (const text of ['0', 'ten', '1.234']) assert.equal(capOf(text), undefined);
    assert.equal(cidrsOf(' \n'), null);
    assert.deepEqual(cidrsOf('192.0.2.0/24\n\n 2001:db8::1 , 10.0.0.1'), [
      '192.0.2.0/24',
      '2001:db8::1',
      '10.0.0.1',
    ]);
  });

  it('send only what differs', () => {
    assert.deepEqual(changeOf(key, fieldsOf(key)), {});
    assert.deepEqual(changeOf(key, { ...fieldsOf(key), cap: '' }), { spendCapCents: null });
    assert.deepEqual(changeOf(key, { name: 'others', cap: '50', cidrs: '10.0.0.1' }), {
      name: 'others',
      allowedCidrs: ['10.0.0.1'],
    });
    assert.equal(changeOf(key, { ...fieldsOf(key), cap: 'much' }), undefined);
  });
});

describe('the state of an API key', () => {
  it('is the last thing that ended it', () => {
    const now = Date.parse('2026-11-22T00:00:00Z');
    const at = '2026-11-20T00:00:00.000Z';
    assert.equal(apiKeyState(key, now), 'live');
    assert.equal(apiKeyState({ ...key, suspendedAt: at }, now), 'suspended');
    assert.equal(apiKeyState({ ...key, suspendedAt: at, expiresAt: at }, now), 'expired');
    assert.equal(apiKeyState({ ...key, expiresAt: at, revokedAt: at }, now), 'revoked');
  });
});

describe('the page of API keys', function () {
  this.timeout(60_000);
  let lab: DashboardLab;
  let visitor: Visitor;
  let page: Page;
  let users = 0;
  before(async () => {
    lab = await DashboardLab.start();
    visitor = await lab.visit();
  });
  after(() => lab.stop());
  beforeEach(async () => {
    await visitor.signInAnew(`api-keys-${(users += 1)}@example.com`);
    page = visitor.page;
  });
  afterEach(async () => {
    await page.unrouteAll();
    await page.clock.setSystemTime(Date.now());
  });

  const dialog = () => page.getByRole('dialog');
  const row = (name: string) => page.getByRole('listitem').filter({ hasText: name });

  async function makeByApi(about: Partial<ApiKey>): Promise<{ id: string; key: string }> {
    const data = { name: 'runs', scopes: ['read', 'rentals'], ...about };
    return visitor.ask('POST', '/v1/api-keys', { data });
  }
  async function theKey(): Promise<ApiKey> {
    return (await visitor.ask<{ apiKeys: ApiKey[] }>('GET', '/v1/api-keys')).apiKeys[0]!;
  }
  /** Has a machine rented by a key, which may cost so much. */
  async function rentBy(token: string, body: object): Promise<void> {
    await new Purse(visitor).pay(10_000);
    const rent = async () => {
      const answer = await fetch(`${lab.mock.url}/v1/rentals`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ familyId: 'rtx-4090', gpuCount: 1, ...body }),
      });
      return answer.ok;
    };
    await until('the key has rented a machine', rent);
  }
  async function openForm(): Promise<void> {
    await visitor.open('/app/api-keys');
    await page.getByRole('button', { name: 'Create a key' }).first().click();
    await dialog().getByRole('textbox', { name: 'Name' }).fill('nightly');
  }
  const make = () => dialog().getByRole('button', { name: 'Create a key' }).click();

  it('makes a key with scopes, an end, a cap and addresses, and shows it once', async () => {
    await openForm();
    await dialog().getByRole('checkbox', { name: 'Rent' }).uncheck();
    await dialog().getByRole('checkbox', { name: 'Billing' }).check();
    await dialog().getByLabel('Expires after').selectOption('A year');
    await dialog().getByLabel('Spend cap').fill('12.50');
    await dialog().getByLabel('Allowed addresses').fill('192.0.2.0/24\n203.0.113.7');
    // It is shown as it comes, however long the list takes to be read anew.
    let readAgain = (): void => undefined;
    const isShown = new Promise<void>((resolve) => (readAgain = resolve));
    await page.route(
      (url) => url.pathname === '/v1/api-keys',
      async (route, request) => {
        if (request.method() === 'GET') await isShown;
        await route.fallback();
      },
    );
    await make();
    const token = await dialog()
      .getByText(/^gpur_/)
      .innerText();
    readAgain();
    assert.match(await dialog().getByText(/curl/).innerText(), /\$GPU_API_KEY" http.*\/v1\/rentals$/);
    await page.keyboard.press('Escape');
    await dialog().getByText('You have not saved it yet').waitFor();
    await dialog().getByRole('button', { name: 'Copy the key' }).click();
    await dialog().getByText('Copied').waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), token);
    await dialog().getByRole('button', { name: 'Done' }).click();
    await row('nightly')
      .getByText(`gpur_…${token.slice(-4)}`)
      .waitFor();
    assert.equal(await page.getByText(token).count(), 0);
    const made = await theKey();
    assert.deepEqual(
      [made.scopes, made.spendCapCents, made.allowedCidrs],
      [['read', 'billing'], 1_250, ['192.0.2.0/24', '203.0.113.7/32']],
    );
    const days = (Date.parse(made.expiresAt) - Date.parse(made.createdAt)) / 86_400_000;
    assert.equal(Math.round(days), 365);
  });

  it('counts its expiry by the service’s clock, also where the browser’s is wrong', async () => {
    await page.clock.setSystemTime(Date.now() + 3 * 86_400_000);
    await page.reload();
    await openForm();
    await dialog().getByLabel('Expires after').selectOption('7 days');
    await make();
    await dialog()
      .getByText(/^gpur_/)
      .waitFor();
    const { expiresAt, createdAt } = await theKey();
    assert.equal(Math.round((Date.parse(expiresAt) - Date.parse(createdAt)) / 86_400_000), 7);
    await dialog().getByRole('button', { name: 'Copy the key' }).click();
    await dialog().getByRole('button', { name: 'Done' }).click();
  });

  it('makes a key for an agent, which ends no machines but its own', async () => {
    await openForm();
    await dialog().getByRole('checkbox', { name: 'Stop and limit only its own machines' }).check();
    await make();
    await dialog()
      .getByText(/^gpur_/)
      .waitFor();
    assert.equal((await theKey()).ends, 'own');
    await dialog().getByRole('button', { name: 'Copy the key' }).click();
    await dialog().getByRole('button', { name: 'Done' }).click();
    await row('nightly').getByText('Own machines only').waitFor();
  });

  it('tells what a cap is used for, and where the key was used last', async () => {
    const { key: token } = await makeByApi({ name: 'agent', spendCapCents: 4_000 });
    await rentBy(token, { maxSpendCents: 1_500 });
    await visitor.open('/app/api-keys');
    await row('agent').getByText('$0.00 of $40.00 spent').waitFor();
    await row('agent').getByText('$15.00 reserved · $25.00 left').waitFor();
    await row('agent').getByRole('img', { name: '$0.00 spent and $15.00 reserved of $40.00' }).waitFor();
    await row('agent').getByText('from 127.0.0.1').waitFor();
  });

  it('changes a key, and says that a cap can’t be below what is reserved', async () => {
    const { key: token } = await makeByApi({ name: 'agent', spendCapCents: 4_000 });
    await rentBy(token, { maxSpendCents: 1_500 });
    await visitor.open('/app/api-keys');
    await page.getByRole('button', { name: 'Change the key agent' }).click();
    await dialog().getByLabel('Name').fill('cautious agent');
    await dialog().getByLabel('Spend cap').fill('5');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await page.getByRole('status').getByText('The cap is $15.00').waitFor();
    await row('cautious agent').getByText('$0.00 of $15.00 spent').waitFor();
  });

  it('sends nothing where nothing was changed', async () => {
    await makeByApi({ name: 'same' });
    await visitor.open('/app/api-keys');
    await visitor.fail('PATCH', `/v1/api-keys/${(await theKey()).id}`, 'internal_error');
    await page.getByRole('button', { name: 'Change the key same' }).click();
    await dialog().getByRole('button', { name: 'Save' }).click();
    await dialog().waitFor({ state: 'hidden' });
  });

  it('names the machines that keep a key from getting its first cap', async () => {
    const { key: token } = await makeByApi({ name: 'free' });
    await rentBy(token, {});
    await visitor.open('/app/api-keys');
    await page.getByRole('button', { name: 'Change the key free' }).click();
    await dialog().getByLabel('Spend cap').fill('20');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await dialog()
      .getByRole('alert')
      .getByRole('link', { name: /^rent_/ })
      .waitFor();
  });

  it('revokes a key, and stops its machines where that is asked for', async () => {
    const { key: token } = await makeByApi({ name: 'agent' });
    await rentBy(token, { maxSpendCents: 1_500 });
    await visitor.open('/app/api-keys');
    await page.getByRole('button', { name: 'Revoke the key agent' }).click();
    await dialog().getByText('Its machines may still cost $15.00.').waitFor();
    await dialog().getByRole('checkbox', { name: 'Stop its machines too' }).check();
    await dialog().getByRole('button', { name: 'Revoke' }).click();
    await dialog().waitFor({ state: 'hidden' });
    await row('agent').getByText('Revoked').first().waitFor();
    assert.equal(await page.getByRole('button', { name: 'Change the key agent' }).count(), 0);
    const { rentals } = await visitor.ask<{ rentals: { status: string }[] }>('GET', '/v1/rentals');
    assert.equal(['provisioning', 'running'].includes(rentals[0]!.status), false, rentals[0]!.status);
  });

  it('leaves the machines of a revoked key running unless asked', async () => {
    await makeByApi({ name: 'agent' });
    await visitor.open('/app/api-keys');
    await page.getByRole('button', { name: 'Revoke the key agent' }).click();
    const [request] = await Promise.all([
      page.waitForRequest((sent) => sent.method() === 'DELETE'),
      dialog().getByRole('button', { name: 'Revoke' }).click(),
    ]);
    assert.equal(new URL(request.url()).searchParams.get('stopMachines'), 'false');
    await dialog().waitFor({ state: 'hidden' });
  });

  it('says what is wrong before anything is sent', async () => {
    await visitor.fail('POST', '/v1/api-keys', 'internal_error');
    await openForm();
    await dialog().getByRole('checkbox', { name: 'Read' }).uncheck();
    await dialog().getByRole('checkbox', { name: 'Rent' }).uncheck();
    await dialog().getByLabel('Spend cap').fill('much');
    await make();
    await dialog().getByText('Choose at least one.').waitFor();
    await dialog().getByText('Enter an amount such as 25').waitFor();
  });

  it('says at the line which address the service does not take, and keeps what was typed', async () => {
    await openForm();
    await dialog().getByLabel('Allowed addresses').fill('192.0.2.0/24\n10.0.0.300');
    await make();
    await dialog().getByText('Line 2: must be an IP address').waitFor();
    assert.equal(await dialog().getByRole('textbox', { name: 'Name' }).inputValue(), 'nightly');
  });

  it('says at the field that a name is too long', async () => {
    await openForm();
    await dialog()
      .getByRole('textbox', { name: 'Name' })
      .evaluate((input) => input.removeAttribute('maxlength'));
    await dialog().getByRole('textbox', { name: 'Name' }).fill('x'.repeat(65));
    await make();
    await dialog().getByText('name can have at most 64 characters').waitFor();
  });

  it('says that there are too many keys', async () => {
    await visitor.fail('POST', '/v1/api-keys', 'too_many_keys');
    await openForm();
    await make();
    await dialog()
      .getByRole('alert')
      .getByText(/the most an account can have/)
      .waitFor();
  });

  it('tells of a failure when a key is made, with the request’s id', async () => {
    await visitor.fail('POST', '/v1/api-keys', 'internal_error');
    await openForm();
    await make();
    await failedRequest(dialog()).waitFor();
  });

  it('tells why a key could not be changed, and keeps what was typed', async () => {
    await makeByApi({ name: 'agent' });
    await visitor.open('/app/api-keys');
    await visitor.fail('PATCH', `/v1/api-keys/${(await theKey()).id}`, 'cap_reserved');
    await page.getByRole('button', { name: 'Change the key agent' }).click();
    await dialog().getByLabel('Spend cap').fill('20');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await failedRequest(dialog()).waitFor();
    assert.equal(await dialog().getByLabel('Spend cap').inputValue(), '20');
  });

  it('tells in the question that a key could not be revoked', async () => {
    await makeByApi({ name: 'agent' });
    await visitor.open('/app/api-keys');
    await visitor.fail('DELETE', `/v1/api-keys/${(await theKey()).id}`, 'key_not_found');
    await page.getByRole('button', { name: 'Revoke the key agent' }).click();
    await dialog().getByRole('button', { name: 'Revoke' }).click();
    await failedRequest(dialog()).waitFor();
  });

  it('tells that the list could not be read, and reads it when asked again', async () => {
    await assertReadAgain(visitor, {
      page: '/app/api-keys',
      reads: '/v1/api-keys',
      shows: page.getByText('No API keys yet'),
    });
  });

  it('shows more than one page of keys', async () => {
    for (let number = 1; number <= 51; number += 1) {
      const { id } = await makeByApi({ name: `key ${number}` });
      await visitor.ask('DELETE', `/v1/api-keys/${id}`);
    }
    await visitor.open('/app/api-keys');
    await page.getByText('key 51', { exact: true }).waitFor();
    assert.equal(await page.getByText('key 1', { exact: true }).count(), 0);
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByText('key 1', { exact: true }).waitFor();
  });
});
