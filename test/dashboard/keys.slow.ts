import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import ssh2 from 'ssh2';
import { commentOf, fileNameOf, isPrivateKey } from '../../clients/dashboard/src/data/key-text.js';
import { DashboardLab, type Visitor } from '../support/dashboard/dashboard.js';
import { assertReadAgain, failedRequest } from '../support/dashboard/failures.js';
import { newSshKeyPair } from '../support/ssh-key-pair.js';
import { until } from '../support/until.js';

const { public: publicKey, private: privateKey } = newSshKeyPair('ada@laptop');

describe('the text of a key', () => {
  it('is known as private by any of its usual forms', () => {
    const pem = generateKeyPairSync('ec', {
      namedCurve: 'P-256',
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' },
    }).privateKey;
    const withoutItsFirstLine = privateKey.split('\n').slice(1).join('\n');
    for (const text of [privateKey, pem, withoutItsFirstLine, `  ${privateKey}`])
      assert(isPrivateKey(text), text);
    assert(isPrivateKey('PuTTY-User-Key-File-3: ssh-ed25519'));
    assert.equal(isPrivateKey(publicKey), false);
    assert.equal(isPrivateKey('-----BEGIN PUBLIC KEY-----'), false);
  });

  it('tells its comment, and lends its name to a file', () => {
    assert.equal(commentOf(`${publicKey}\n`), 'ada@laptop');
    assert.equal(commentOf(publicKey.replace(' ada@laptop', '')), undefined);
    assert.equal(commentOf('nothing of the kind'), undefined);
    assert.equal(fileNameOf({ name: 'Ada’s  Laptop!', id: 'key_01ABCDEF' }), 'ada-s-laptop-abcdef.pem');
  });

  it('lends no two keys the name of one file, which would overwrite a private key', () => {
    const [one, other] = ['key_01AAAAAA', 'key_01BBBBBB'] as const;
    for (const [name, otherName] of [
      ['a', 'a'],
      ['a', 'A!'],
      ['鍵', '錠'],
    ] as const) {
      const [file, otherFile] = [fileNameOf({ name, id: one }), fileNameOf({ name: otherName, id: other })];
      assert.notEqual(file, otherFile);
      assert.match(file, /^[a-z0-9][a-z0-9-]*\.pem$/);
    }
  });
});

describe('the page of SSH keys', function () {
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
    await visitor.signInAnew(`keys-${(users += 1)}@example.com`);
    page = visitor.page;
  });
  afterEach(() => page.unrouteAll());

  const dialog = () => page.getByRole('dialog');
  const addByApi = (name: string, key = publicKey) =>
    visitor.ask('POST', '/v1/ssh-keys', { data: { name, publicKey: key } });
  /** Opens the dialog and fills in a key that is the user's own. */
  async function fillIn(): Promise<void> {
    await visitor.open('/app/keys');
    await page.getByRole('button', { name: 'Add a key' }).first().click();
    await dialog().getByLabel('Public key').fill(publicKey);
  }

  it('adds a key that is pasted, under the name that its comment tells', async () => {
    await visitor.open('/app/keys');
    await page.getByText('No keys yet').waitFor();
    await page.getByRole('button', { name: 'Add a key' }).first().click();
    await dialog().getByLabel('Public key').fill(publicKey);
    assert.equal(await dialog().getByLabel('Name').inputValue(), 'ada@laptop');
    await dialog().getByRole('button', { name: 'Add the key' }).click();
    await dialog().waitFor({ state: 'hidden' });
    const row = page.getByRole('listitem').filter({ hasText: 'SHA256:' });
    await row.getByText('ada@laptop').waitFor();
    await row.getByRole('button', { name: 'Copy the public key ada@laptop' }).click();
    assert.equal(
      await page.evaluate(() => navigator.clipboard.readText()),
      publicKey.replace(' ada@laptop', ''),
    );
  });

  it('never sends a private key, and says so', async () => {
    const sent: string[] = [];
    page.on('request', (request) => sent.push(`${request.url()} ${request.postData() ?? ''}`));
    await visitor.open('/app/keys');
    await page.getByRole('button', { name: 'Add a key' }).first().click();
    await dialog().getByLabel('Name').fill('mine');
    await dialog().getByLabel('Public key').fill(privateKey);
    await dialog().getByRole('alert').getByText('That is a private key').waitFor();
    assert.equal(await dialog().getByLabel('Public key').inputValue(), '');
    await dialog().getByRole('button', { name: 'Add the key' }).click();
    await dialog().getByLabel('Public key').fill(publicKey);
    await dialog().getByRole('alert').waitFor({ state: 'hidden' });
    await dialog().getByRole('button', { name: 'Add the key' }).click();
    await dialog().waitFor({ state: 'hidden' });
    const secret = privateKey.split('\n')[2]!;
    assert.deepEqual(
      sent.filter((request) => request.includes(secret) || request.includes('PRIVATE')),
      [],
    );
  });

  it('has a pair made, shows its private half once, and warns before it is lost', async () => {
    await visitor.open('/app/keys');
    await page.getByRole('button', { name: 'Add a key' }).first().click();
    await dialog().getByText('Create a pair').click();
    await dialog().getByLabel('Name').fill('Made here');
    await dialog().getByRole('button', { name: 'Create the pair' }).click();
    await dialog().getByText('-----BEGIN EC PRIVATE KEY-----').waitFor();
    await page.keyboard.press('Escape');
    await dialog().getByText('You have not saved it yet').waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      dialog().getByRole('button', { name: 'Download the file' }).click(),
    ]);
    const file = download.suggestedFilename();
    assert.match(file, /^made-here-[a-z0-9]{6}\.pem$/);
    await dialog().getByText(`mv -n ~/Downloads/${file} ~/.ssh/`).waitFor();
    const saved = await readFile(await download.path(), 'utf8');
    assert(!(ssh2.utils.parseKey(saved) instanceof Error));
    await dialog().getByRole('button', { name: 'Copy the private key' }).click();
    await dialog().getByText('Copied').waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), saved);
    await dialog().getByRole('button', { name: 'Done' }).click();
    await dialog().waitFor({ state: 'hidden' });
    await page.getByText('Made here', { exact: true }).waitFor();
    assert.equal(await page.getByText('PRIVATE KEY').count(), 0);
  });

  it('can’t be switched to another way while a pair is made, which would lose its private half', async () => {
    let letGo = (): void => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    await page.route('**/v1/ssh-keys', async (route) => {
      if (route.request().method() === 'POST') await held;
      await route.continue();
    });
    await visitor.open('/app/keys');
    await page.getByRole('button', { name: 'Add a key' }).first().click();
    await dialog().getByText('Create a pair').click();
    await dialog().getByLabel('Name').fill('Made here');
    await dialog().getByRole('button', { name: 'Create the pair' }).click();
    const [paste, generate] = await dialog().getByRole('radio').all();
    await until('neither can be chosen', async () => (await paste!.isDisabled()) && generate!.isDisabled());
    letGo();
    await dialog().getByText('-----BEGIN EC PRIVATE KEY-----').waitFor();
  });

  it('says that a browser lets nothing be copied, and takes that for not saved', async () => {
    await visitor.open('/app/keys');
    await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }));
    await page.getByRole('button', { name: 'Add a key' }).first().click();
    await dialog().getByText('Create a pair').click();
    await dialog().getByLabel('Name').fill('by hand');
    await dialog().getByRole('button', { name: 'Create the pair' }).click();
    await dialog().getByRole('button', { name: 'Copy the private key' }).click();
    await dialog().getByText('Your browser blocked copying').waitFor();
    await dialog().getByRole('button', { name: 'Done' }).click();
    await dialog().getByText('You have not saved it yet').waitFor();
  });

  it('lets go of a made key that nobody saved, when they insist', async () => {
    await visitor.open('/app/keys');
    await page.getByRole('button', { name: 'Add a key' }).first().click();
    await dialog().getByText('Create a pair').click();
    await dialog().getByLabel('Name').fill('lost');
    await dialog().getByRole('button', { name: 'Create the pair' }).click();
    await dialog().getByRole('button', { name: 'Done' }).click();
    await dialog().getByRole('button', { name: 'Close anyway' }).click();
    await dialog().waitFor({ state: 'hidden' });
  });

  it('removes a key after a question', async () => {
    await addByApi('old laptop');
    await visitor.open('/app/keys');
    await page.getByRole('button', { name: 'Remove the key old laptop' }).click();
    await dialog().getByRole('heading', { name: 'Remove old laptop?' }).waitFor();
    await dialog().getByRole('button', { name: 'Cancel' }).click();
    await dialog().waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Remove the key old laptop' }).click();
    await dialog().getByRole('button', { name: 'Remove' }).click();
    await page.getByText('No keys yet').waitFor();
  });

  it('says at the field what is wrong with a key, and keeps what was typed', async () => {
    await addByApi('before');
    await fillIn();
    await dialog().getByRole('button', { name: 'Add the key' }).click();
    const field = dialog().getByLabel('Public key');
    await dialog().getByText('You already have this key.').waitFor();
    assert.equal(await field.getAttribute('aria-invalid'), 'true');
    assert.equal(await field.inputValue(), publicKey);
    await field.fill('ssh-ed25519 nonsense');
    await dialog().getByRole('button', { name: 'Add the key' }).click();
    await dialog().getByText('publicKey must be one line of an OpenSSH public key').waitFor();
    await visitor.fail('POST', '/v1/ssh-keys', 'weak_key');
    await dialog().getByRole('button', { name: 'Add the key' }).click();
    await dialog().getByText('at least 2048 are needed').waitFor();
    assert.equal(await field.getAttribute('aria-invalid'), 'true');
  });

  it('says that there are too many keys', async () => {
    await fillIn();
    await visitor.fail('POST', '/v1/ssh-keys', 'too_many_keys');
    await dialog().getByRole('button', { name: 'Add the key' }).click();
    await dialog().getByRole('alert').getByText('You have 100 keys').waitFor();
    assert.equal(await dialog().getByLabel('Public key').inputValue(), publicKey);
  });

  for (const code of ['internal_error', 'temporarily_unavailable'] as const) {
    it(`tells of a ${code} when a key is added, with the request’s id`, async () => {
      await fillIn();
      await visitor.fail('POST', '/v1/ssh-keys', code);
      await dialog().getByRole('button', { name: 'Add the key' }).click();
      await failedRequest(dialog()).waitFor();
      assert.equal(await dialog().getByLabel('Public key').inputValue(), publicKey);
    });
  }

  it('tells in the question that a key could not be removed', async () => {
    await addByApi('stays');
    await visitor.open('/app/keys');
    await visitor.fail('DELETE', `/v1/ssh-keys/${await onlyKeyId()}`, 'key_not_found');
    await page.getByRole('button', { name: 'Remove the key stays' }).click();
    await dialog().getByRole('button', { name: 'Remove' }).click();
    await failedRequest(dialog()).waitFor();
  });

  it('tells that the list could not be read, and reads it when asked again', async () => {
    await assertReadAgain(visitor, {
      page: '/app/keys',
      reads: '/v1/ssh-keys',
      shows: page.getByText('No keys yet'),
    });
  });

  async function onlyKeyId(): Promise<string> {
    const { sshKeys } = await visitor.ask<{ sshKeys: [{ id: string }] }>('GET', '/v1/ssh-keys');
    return sshKeys[0].id;
  }
});
