import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { DashboardLab, type Visitor } from '../support/dashboard/dashboard.js';
import { Renter } from '../support/dashboard/renter.js';

describe('own software in the dashboard', function () {
  this.timeout(60_000);
  let lab: DashboardLab;
  let visitor: Visitor;
  let page: Page;
  let renter: Renter;
  before(async () => {
    lab = await DashboardLab.start({ durations: { provisionMs: 50, endMs: 300, lostMs: 50 } });
  });
  after(() => lab.stop());
  beforeEach(async () => {
    visitor = await lab.visit();
    page = visitor.page;
    renter = await Renter.signIn(visitor);
  });
  afterEach(async () => {
    assert.deepEqual(visitor.complaints, []);
    await visitor.close();
  });

  it('shows where each port is reached, and warns of those that are public', async () => {
    const id = await renter.rent({
      ...{ familyId: 'rtx-4090', gpuCount: 1, name: 'own', image: 'ghcr.io/ada/page:1', sshKeyIds: [] },
      ports: [
        { name: 'page', port: 8080, kind: 'http', public: true },
        { name: 'db', port: 5432, kind: 'tcp' },
      ],
    });
    await renter.reaches(id, 'running');
    await visitor.open(`/app/rentals/${id}`);
    const ports = page.getByRole('region', { name: 'Ports', exact: true });
    const link = ports.getByRole('link', { name: 'Open page' });
    await link.waitFor();
    assert.match((await link.getAttribute('href')) ?? '', /^http:\/\/203\.0\.113\.\d+:8080\/$/);
    assert.deepEqual(
      [await link.getAttribute('rel'), await link.getAttribute('target')],
      ['noopener noreferrer', '_blank'],
    );
    await ports.getByText(`gpu ports db -m ${id.slice(-6)}`).waitFor();
    await page.getByRole('alert').getByText('Its ports are public').waitFor();
    await page.getByText('Its software does not answer over SSH.').waitFor();
    if (process.env['PICTURES']) await page.screenshot({ path: process.env['PICTURES'], fullPage: true });
  });
});
