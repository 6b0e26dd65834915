import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readFile } from 'node:fs/promises';
import { makeKeyPair, type KeyPair } from '../../clients/dashboard/src/data/openssh-key.js';
import { sshBlock, sshCommand } from '../../clients/dashboard/src/pages/rentals/ssh-command.js';
import { DashboardLab } from '../support/dashboard/dashboard.js';
import { Purse } from '../support/dashboard/paying.js';

let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'made-keys-'));
});
after(() => rmSync(folder, { recursive: true, force: true }));

const run = (command: string, args: readonly string[], input = ''): string =>
  execFileSync(command, args, { cwd: folder, input, encoding: 'utf8', stdio: 'pipe' });

/** Writes a private key as somebody saves it. */
function save(name: string, privateKey: string): string {
  const file = join(folder, name);
  writeFileSync(file, privateKey, { mode: 0o600 });
  return file;
}

async function made(comment: string): Promise<KeyPair> {
  const pair = await makeKeyPair(comment);
  assert.ok(pair);
  return pair;
}

describe('a pair of keys that a browser makes', () => {
  it('is a file that ssh-keygen reads, whatever its comment', async () => {
    // Each length of the comment takes another padding.
    for (const comment of ['', 'a', 'ab', 'abc', 'abcd', 'abcde', 'abcdef', 'abcdefg', 'Ada’s laptop 鍵']) {
      const { publicKey, privateKey } = await made(comment);
      const file = save('read', privateKey);
      const read = run('ssh-keygen', ['-y', '-P', '', '-f', file]).trim();
      assert.equal(read, comment === '' ? publicKey : `${publicKey} ${comment}`);
    }
  });

  it('signs what its public half proves', async () => {
    const { publicKey, privateKey } = await made('ada');
    const file = save('signs', privateKey);
    const signature = save('sig', run('ssh-keygen', ['-Y', 'sign', '-n', 'test', '-f', file], 'a text'));
    const signers = save('signers', `ada ${publicKey}\n`);
    const verify = ['-Y', 'verify', '-n', 'test', '-I', 'ada', '-f', signers, '-s', signature];
    assert.match(run('ssh-keygen', verify, 'a text'), /Good "test" signature/);
    assert.throws(() => run('ssh-keygen', verify, 'another text'));
  });

  it('is another one each time', async () => {
    assert.notEqual((await made('a')).publicKey, (await made('a')).publicKey);
  });
});

describe('how a machine is entered', () => {
  const machine = { id: 'rent_01ABCDEF', name: 'train-7', host: '203.0.113.9', port: 2222, username: 'root' };

  it('names the file of a made key', () => {
    assert.equal(sshCommand(machine, 'laptop.pem'), 'ssh -i ~/.ssh/laptop.pem -p 2222 root@203.0.113.9');
    assert.equal(sshCommand(machine), 'ssh -p 2222 root@203.0.113.9');
    assert.equal(sshCommand({ ...machine, host: null }), undefined);
  });

  it('is a block that ssh reads', () => {
    const block = sshBlock(machine, 'laptop.pem');
    assert.ok(block);
    const file = save('config', `${block.text}\n`);
    const read = run('ssh', ['-G', '-F', file, block.alias]);
    for (const line of ['hostname 203.0.113.9', 'port 2222', 'user root', 'identityfile ~/.ssh/laptop.pem'])
      assert.ok(read.includes(`${line}\n`), `${line} in ${read}`);
    assert.equal(block.alias, 'gpu-train-7');
  });

  it('has a name of its own where the rental’s would be a pattern, and no address that is a command', () => {
    assert.equal(sshBlock({ ...machine, name: 'all * of them' })?.alias, 'gpu-ABCDEF');
    assert.equal(sshBlock({ ...machine, host: 'a;reboot' }), undefined);
    assert.equal(sshBlock({ ...machine, username: 'root\nProxyCommand x' }), undefined);
  });
});

describe('a key that is made on a page', function () {
  this.timeout(60_000);
  let lab: DashboardLab;
  before(async () => {
    lab = await DashboardLab.start();
  });
  after(() => lab.stop());

  it('never leaves the browser, and is named in the command of what is rented then', async () => {
    const visitor = await lab.visit({ isSecure: true });
    await visitor.signIn('maker@example.com');
    const { page } = visitor;
    const sent: string[] = [];
    page.on('request', (request) => sent.push(`${request.url()} ${request.postData() ?? ''}`));
    await page.goto('/app/keys?add=true');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Create a pair').click();
    await dialog.getByText('The private key never leaves this computer').waitFor();
    await dialog.getByLabel('Name').fill('laptop');
    await dialog.getByRole('button', { name: 'Create the pair' }).click();
    await dialog.getByText('-----BEGIN OPENSSH PRIVATE KEY-----').waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      dialog.getByRole('button', { name: 'Download the file' }).click(),
    ]);
    const file = download.suggestedFilename();
    assert.match(file, /^laptop-[a-z0-9]{6}\.pem$/);
    const saved = await readFile(await download.path(), 'utf8');
    await dialog.getByRole('button', { name: 'Done' }).click();
    await dialog.waitFor({ state: 'hidden' });

    const { sshKeys } = await visitor.ask<{ sshKeys: { publicKey: string }[] }>('GET', '/v1/ssh-keys');
    const read = run('ssh-keygen', ['-y', '-P', '', '-f', save(file, saved)]).trim();
    assert.deepEqual([`${sshKeys[0]?.publicKey ?? ''} laptop`, sshKeys.length], [read, 1]);
    const secret = saved.split('\n').slice(2, -2);
    assert.ok(secret.length > 2);
    assert.deepEqual(
      sent.filter((request) => secret.some((line) => request.includes(line)) || request.includes('PRIVATE')),
      [],
    );

    // Without money that comes next; with it, the machines.
    await page.getByRole('main').getByRole('link', { name: 'Next: add money' }).waitFor();
    await new Purse(visitor).pay(50_000);
    await page.getByRole('link', { name: 'Next: rent a machine' }).waitFor();

    const data = { familyId: 'rtx-4090', gpuCount: 1, name: 'train-7' };
    const { id } = await visitor.ask<{ id: string }>('POST', '/v1/rentals', { data });
    await visitor.open(`/app/rentals/${id}`);
    await page.getByText(new RegExp(String.raw`^ssh -i ~/\.ssh/${file} -p \d+ root@\S+$`)).waitFor();
    await page.getByText('For ~/.ssh/config').click();
    await page
      .getByText(
        new RegExp(
          String.raw`Host gpu-train-7\s+HostName \S+\s+Port \d+\s+User root\s+IdentityFile ~/\.ssh/${file}`,
        ),
      )
      .waitFor();
    assert.deepEqual(visitor.complaints, []);

    // Nobody else is told of it.
    await visitor.signInAnew('other@example.com');
    await new Purse(visitor).pay(50_000);
    const other = await visitor.ask<{ id: string }>('POST', '/v1/rentals', { data });
    await visitor.open(`/app/rentals/${other.id}`);
    await page.getByText(/^ssh -p \d+ root@\S+$/).waitFor();
    assert.equal(await page.getByText(file).count(), 0);
  });

  it('is the same one for another press, where the answer to the first was lost', async () => {
    const visitor = await lab.visit({ isSecure: true });
    await visitor.signIn('lost@example.com');
    const { page } = visitor;
    await page.goto('/app/keys?add=true');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Create a pair').click();
    await dialog.getByLabel('Name').fill('once');
    let posts = 0;
    await page.route('**/v1/ssh-keys', async (route, request) => {
      if (request.method() !== 'POST') return route.fallback();
      posts += 1;
      if (posts > 1) return route.continue();
      await route.fetch();
      return route.abort('connectionreset');
    });
    const make = dialog.getByRole('button', { name: 'Create the pair' });
    await make.click();
    await dialog.getByRole('alert').waitFor();
    await make.click();
    await dialog.getByText('-----BEGIN OPENSSH PRIVATE KEY-----').waitFor();
    const { sshKeys } = await visitor.ask<{ sshKeys: unknown[] }>('GET', '/v1/ssh-keys');
    assert.deepEqual([sshKeys.length, posts], [1, 2]);
  });
});
