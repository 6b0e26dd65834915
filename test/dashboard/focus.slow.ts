import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { DashboardLab, type Visitor } from '../support/dashboard/dashboard.js';
import { Purse } from '../support/dashboard/paying.js';
import { newSshKeyPair } from '../support/ssh-key-pair.js';
import { until } from '../support/until.js';

describe('the focus and the palette of the dashboard', function () {
  this.timeout(60_000);
  let lab: DashboardLab;
  let visitor: Visitor;
  let page: Page;
  let users = 0;
  before(async () => {
    lab = await DashboardLab.start();
  });
  after(() => lab.stop());
  beforeEach(async () => {
    visitor = await lab.visit();
    page = visitor.page;
    await visitor.signIn(`focus-${(users += 1)}@example.com`);
  });
  afterEach(() => visitor.close());

  const focused = (): Promise<string> =>
    page.evaluate(() => {
      const { activeElement: at } = document;
      if (at === null || at === document.body) return 'nothing';
      return at.getAttribute('aria-label') ?? at.textContent.trim();
    });
  const becomes = (name: string): Promise<unknown> =>
    until(`the focus is at ${name}`, async () => (await focused()) === name);
  const addKey = (name: string): Promise<unknown> =>
    visitor.ask('POST', '/v1/ssh-keys', { data: { name, publicKey: newSshKeyPair().public } });

  it('goes on to the next of a list when one is removed, and to the heading after the last', async () => {
    for (const name of ['first', 'second']) await addKey(name);
    await visitor.open('/app/keys');
    const remove = async (name: string): Promise<void> => {
      await page.getByRole('button', { name: `Remove the key ${name}` }).focus();
      await page.keyboard.press('Enter');
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Remove', exact: true }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: `Remove the key ${name}` }).waitFor({ state: 'detached' });
    };
    await remove('first');
    await until('something of the other key has it', async () => (await focused()).includes('second'));
    await remove('second');
    await until('it is not lost', async () => (await focused()) !== 'nothing');
  });

  it('stays on a button while that sends', async () => {
    await visitor.open('/app/budget');
    let answer = (): void => undefined;
    const isAnswered = new Promise<void>((resolve) => (answer = resolve));
    await page.route('**/v1/billing/budget', async (route, request) => {
      if (request.method() === 'PUT') await isAnswered;
      await route.continue();
    });
    await page.getByRole('main').getByRole('textbox').first().fill('100');
    const save = page.getByRole('main').getByRole('button', { name: 'Save' });
    await save.focus();
    await page.keyboard.press('Enter');
    await until('it is under way', async () => (await save.getAttribute('aria-busy')) === 'true');
    assert.match(await focused(), /Save/);
    answer();
    await until('it is done', async () => (await save.getAttribute('aria-busy')) === null);
    assert.match(await focused(), /Save/);
  });

  it('goes from a part of a form that is removed to what is left of it', async () => {
    await visitor.open('/app/rent/rtx-4090');
    for (const place of [1, 2]) {
      await page.getByRole('button', { name: 'Add a label' }).click();
      await page.getByLabel(`Key of label ${place}`).waitFor();
    }
    await page.getByRole('button', { name: 'Remove label 2' }).focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Key of label 2').waitFor({ state: 'detached' });
    await until('it is not lost', async () => (await focused()) !== 'nothing');
  });

  it('stops a machine from the palette after its question, and gives the focus back', async () => {
    await new Purse(visitor).pay(50_000);
    const data = { familyId: 'rtx-4090', gpuCount: 1, name: 'train-7' };
    const { id } = await visitor.ask<{ id: string }>('POST', '/v1/rentals', { data });
    await visitor.open('/app/invoices');
    const ask = async (): Promise<void> => {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox').fill('stop train');
      await page.getByRole('option', { name: 'Stop train-7' }).waitFor();
      await page.keyboard.press('Enter');
      await page.getByRole('dialog', { name: /train-7/ }).waitFor();
    };
    await ask();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await becomes('Invoices');
    const statusOf = async (): Promise<string> =>
      (await visitor.ask<{ status: string }>('GET', `/v1/rentals/${id}`)).status;
    assert.notEqual(await statusOf(), 'stopping', 'nothing is stopped by a question');
    await ask();
    await page.getByRole('dialog').getByRole('button', { name: 'Stop it now' }).click();
    await until('it stops', async () => ['stopping', 'stopped', 'terminated'].includes(await statusOf()));
    await becomes('Invoices');
    assert.deepEqual(visitor.complaints, []);
  });

  it('leads from the palette to a family, to the amount, and to the form of a key', async () => {
    await visitor.open('/app');
    const choose = async (typed: string, option: string): Promise<void> => {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox').fill(typed);
      await page.getByRole('option', { name: option }).first().waitFor();
      await page.keyboard.press('Enter');
    };
    await choose('rent h100', 'Rent H100');
    await page.waitForURL('**/app/rent/h100-80gb');
    await page.getByRole('heading', { level: 1, name: 'Rent H100' }).waitFor();
    await choose('add mon', 'Add money');
    await until('the amount has the focus', () =>
      page.evaluate(() => document.activeElement?.getAttribute('name') === 'amount'),
    );
    await choose('add ssh', 'Add an SSH key');
    await page.getByRole('dialog', { name: 'Add a key' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await until('it is not lost', async () => (await focused()) !== 'nothing');
    assert.equal(new URL(page.url()).search, '');
  });

  it('folds the filters of Rent away on a phone, and says how many are in use', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await visitor.open('/app/rent?region=us');
    const fold = page.getByRole('button', { name: 'Filters in use: 1' });
    const region = page
      .getByLabel('Place')
      .or(page.getByLabel('Region'))
      .or(page.getByLabel('Where'))
      .first();
    await fold.waitFor();
    assert.equal(await region.isVisible(), false);
    await fold.click();
    await region.waitFor();
    assert.equal(await fold.getAttribute('aria-expanded'), 'true');
    await page.setViewportSize({ width: 1_280, height: 800 });
    await fold.waitFor({ state: 'hidden' });
    await region.waitFor();
  });

  it('tells the same count to all', async () => {
    await visitor.open('/app/rent');
    const said = page.getByRole('main').getByRole('status').filter({ hasText: 'on offer' });
    const families = page.getByRole('main').getByRole('list').first().getByRole('listitem');
    await families.first().waitFor();
    const rows = await families.count();
    assert.equal(await said.innerText(), `${rows} families on offer`);
  });
});
