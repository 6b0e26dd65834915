import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { DashboardLab, type Visitor } from '../support/dashboard/dashboard.js';
import { HeldClock } from '../support/dashboard/held-clock.js';
import { Renter } from '../support/dashboard/renter.js';

describe('a form that is open while what it changes is changed elsewhere', function () {
  this.timeout(60_000);
  const clock = new HeldClock();
  let lab: DashboardLab;
  let visitor: Visitor;
  let page: Page;
  let renter: Renter;
  before(async () => {
    lab = await DashboardLab.start({ clock, durations: { provisionMs: 50 } });
  });
  after(() => lab.stop());
  beforeEach(async () => {
    visitor = await lab.visit();
    page = visitor.page;
    renter = await Renter.signIn(visitor);
  });
  afterEach(async () => {
    clock.release();
    await visitor.close();
  });

  const dialog = () => page.getByRole('dialog');

  it('keeps the time limit that counts from the start of a machine', async () => {
    clock.hold();
    const id = await renter.rent({ autoStopAfterHours: 2 });
    await visitor.open(`/app/rentals/${id}`);
    await page.getByRole('button', { name: 'Change limits' }).click();
    await dialog().getByLabel('Spending limit').fill('20');
    await dialog().getByText('Leave empty to keep the limit you set.').waitFor();
    clock.release();
    await dialog().getByText('Leave empty for no limit.').first().waitFor();
    const { autoStopAt } = await renter.reaches(id, 'running');
    assert.notEqual(autoStopAt, null);
    await dialog().getByRole('button', { name: 'Save limits' }).click();
    await dialog().waitFor({ state: 'detached' });
    const rental = await renter.rental(id);
    assert.deepEqual([rental.autoStopAt, rental.maxSpendCents], [autoStopAt, 2_000]);
  });

  it('keeps the notes of somebody else when it renames', async () => {
    const id = await renter.rent({ name: 'before' });
    await renter.reaches(id, 'running');
    await visitor.open(`/app/rentals/${id}`);
    await page.getByRole('button', { name: 'Edit details' }).click();
    await dialog().getByLabel('Name').fill('mine');
    const theirs = { notes: 'theirs', labels: { team: 'theirs' } };
    await visitor.ask('PATCH', `/v1/rentals/${id}`, { data: theirs });
    await page.getByText('team: theirs').waitFor({ state: 'attached' });
    await dialog().getByRole('button', { name: 'Save' }).click();
    await dialog().waitFor({ state: 'detached' });
    const { name, notes, labels } = await renter.rental(id);
    assert.deepEqual({ name, notes, labels }, { name: 'mine', ...theirs });
  });

  it('keeps the budget of somebody else when it makes it hard', async () => {
    const path = '/v1/billing/budget';
    await visitor.ask('PUT', path, { data: { monthlyCents: 10_000, hard: false } });
    await visitor.open('/app/budget');
    await page.getByLabel('Never go over it').check();
    await visitor.ask('PUT', path, { data: { monthlyCents: 3_000, hard: false } });
    // The page reads the budget anew with whatever happens to a machine.
    await renter.rent({ maxSpendCents: 1_000 });
    await page.getByText('of $30.00').first().waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Budget saved').waitFor();
    const { monthlyCents, hard } = await visitor.ask<{ monthlyCents: number; hard: boolean }>('GET', path);
    assert.deepEqual({ monthlyCents, hard }, { monthlyCents: 3_000, hard: true });
  });
});
