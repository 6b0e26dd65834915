import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { gpuFile, keys, Terminal } from '../clients/cli/support/terminal.js';
import { buildDashboard } from '../support/dashboard/built.js';
import { visit, type Visitor } from '../support/dashboard/dashboard.js';
import {
  addKey,
  fillPaymentPage,
  mailedCode,
  payFifty,
  signInByCode,
} from '../support/dashboard/story-steps.js';
import { isOneStory } from '../support/one-story.js';
import { startService, type TestService } from '../support/service/living-service.js';
import { newSshKeyPair } from '../support/ssh-key-pair.js';
import { until } from '../support/until.js';

const file = 'docs/notebooks.md';
const picture = 'docs/notebook-machine.png';
const projectDir = fileURLToPath(new URL('../..', import.meta.url));
const email = 'ann@example.com';
/** The page promises it, and is recorded on a quiet machine. */
const MOST_SECONDS = 60;

/** From the sign-in to an open notebook, in a browser and one terminal, as the page tells it. */
describe(file, function () {
  this.timeout(120_000);
  isOneStory();
  let service: TestService;
  let ann: Visitor;
  let page: Page;
  let folder: string;
  let terminal: Terminal | undefined;
  let token: string;
  const text = readFileSync(join(projectDir, file), 'utf8');
  const isRecording = process.env['RECORD_NOTEBOOKS'] === '1';
  const pair = newSshKeyPair();
  /** When each step of the page was done, in seconds after the sign-in began. */
  const doneAt = new Map<string, number>();
  let beganMs: number;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'notebooks-'));
    writeFileSync(join(folder, 'id'), pair.private, { mode: 0o600 });
    service = await startService({ bootMs: 3_000, dashboardFolder: await buildDashboard() });
    ann = await visit(service.api.url);
    ({ page } = ann);
    await ann.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    beganMs = performance.now();
  });
  after(async () => {
    terminal?.kill();
    await ann.close();
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** A step stands in the page under this title. */
  function step(title: string, act: () => Promise<void>): void {
    it(title, async () => {
      assert.ok(isRecording || text.includes(`. **${title}**`), `${file} tells this step`);
      await act();
      doneAt.set(title, (performance.now() - beganMs) / 1_000);
    });
  }

  step('Sign in', async () => {
    await page.goto('/');
    await signInByCode(page, email, () => mailedCode(service.inbox.url, email));
  });

  step('Add an SSH key', () => addKey(page, pair.public));

  step('Put money into the wallet', () => payFifty(page, () => fillPaymentPage(page)));

  step('Rent a machine with Jupyter', async () => {
    await page.goto('/app/rent/rtx-4090');
    await page.getByLabel('Template').selectOption('jupyter');
    const rent = page.getByRole('button', { name: /^Rent for/ });
    await until('it can be rented', () => rent.isEnabled());
    await rent.click();
    await page.waitForURL(/\/app\/rentals\/rent_/);
    await page.getByText('Running', { exact: true }).first().waitFor({ timeout: 30_000 });
  });

  step('Copy its token', async () => {
    const ports = page.getByRole('region', { name: 'Ports', exact: true });
    await ports.getByRole('button', { name: 'Copy token' }).click();
    await ports.getByText('Copied.').waitFor();
    token = await page.evaluate<string>('navigator.clipboard.readText()');
    if (isRecording) await page.screenshot({ path: join(projectDir, picture) });
  });

  step('Forward it to your computer', async () => {
    const wish = { name: 'laptop', scopes: ['read', 'rentals'] };
    const { key } = await ann.ask<{ key: string }>('POST', '/v1/api-keys', { data: wish });
    const command = await page.locator('code', { hasText: 'gpu notebook' }).innerText();
    terminal = new Terminal(`${gpuFile} ${command.replace('gpu ', '')} -i ${join(folder, 'id')}`, {
      env: { HOME: folder, GPU_API_URL: service.api.url, GPU_API_KEY: key, NO_COLOR: '1' },
    });
    await terminal.sees('Connected. Press ctrl-C to end.');
  });

  step('Open it', async () => {
    const url = /Notebook +(http:\/\/127\.0\.0\.1:\d+\/)/.exec(terminal!.shown)?.[1] ?? '';
    const notebook = await ann.context.newPage();
    await until('it answers', () =>
      notebook.goto(url).then(
        () => true,
        () => false,
      ),
    );
    await notebook.getByLabel('Password or token').fill('not the token');
    await notebook.getByRole('button', { name: 'Log in' }).click();
    await notebook.getByText('Invalid credentials').waitFor();
    await notebook.getByLabel('Password or token').fill(token);
    await notebook.getByRole('button', { name: 'Log in' }).click();
    await notebook.getByRole('heading', { name: 'JupyterLab' }).waitFor();
    assert.ok(!notebook.url().includes(token));
    await notebook.close();
  });

  it('is what the page tells', () => {
    const seconds = [...doneAt].map(([title, at]) => `${at.toFixed(1)} s  ${title}`);
    process.stdout.write(seconds.map((line) => `      ${line}\n`).join(''));
    const took = Math.max(...doneAt.values());
    const told = stable(terminal!.shown);
    const [, before = '', shown = '', after = ''] = /^([^]*```text\n)([^]*?)(\n```[^]*)$/.exec(text) ?? [];
    if (isRecording) {
      assert.ok(took < MOST_SECONDS, seconds.join('\n'));
      const counted = before.replace(/took \d+ seconds/, `took ${Math.ceil(took)} seconds`);
      writeFileSync(join(projectDir, file), `${counted}${told}${after}`);
      return;
    }
    assert.equal(told, shown, 'record it anew: RECORD_NOTEBOOKS=1 npx mocha test/docs/notebooks.slow.ts');
  });

  it('ends with the tunnel, and without a token once the machine is stopped', async () => {
    terminal!.press(keys.ctrlC);
    assert.equal(await terminal!.ended(), 0);
    const [{ id } = { id: '' }] = (await ann.ask<{ rentals: { id: string }[] }>('GET', '/v1/rentals'))
      .rentals;
    await ann.ask('POST', `/v1/rentals/${id}/stop`);
    await assert.rejects(
      ann.ask('GET', `/v1/rentals/${id}/endpoints/notebook/token`),
      /404 .*endpoint_not_found/,
    );
    assert.deepEqual(ann.complaints, []);
  });
});

/** What the terminal shows in each run, without ids and the port that was free. */
function stable(shown: string): string {
  return shown
    .trim()
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:8888')
    .replaceAll(/\b[0-9A-HJKMNP-TV-Z]{6}\b/g, '2N3M4X')
    .replaceAll(/[ \t]+$/gm, '');
}
