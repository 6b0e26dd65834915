import assert from 'node:assert/strict';
import { DashboardLab, type Visitor } from '../support/dashboard/dashboard.js';
import { Renter } from '../support/dashboard/renter.js';
import { until } from '../support/until.js';

describe('a machine without a name of its own', function () {
  this.timeout(60_000);
  let lab: DashboardLab;
  let visitor: Visitor;
  let id: string;
  before(async () => {
    lab = await DashboardLab.start({ durations: { provisionMs: 200, endMs: 100 } });
    visitor = await lab.visit();
    const renter = await Renter.signIn(visitor);
    id = await renter.rent({ familyId: 'h100-80gb', gpuCount: 8 });
    await until('it has cost a cent', async () => (await renter.rental(id)).totalChargedCents > 0);
  });
  after(() => lab.stop());

  /** It is called by its family, and nowhere by the provider's code of the model. */
  async function isCalled(name: string): Promise<void> {
    await visitor.page.getByText(name).first().waitFor();
    assert.doesNotMatch(await visitor.page.locator('body').innerText(), /H100_/);
  }

  it('is called by its family in a statement', async () => {
    await visitor.open('/app/statements');
    await isCalled('8 × H100 80 GB');
  });

  it('is called by its family where an entry is explained, beside the provider it was rented from', async () => {
    const page = await visitor.open(`/app/ledger?rental=${id}`);
    await page.getByRole('row').filter({ hasText: 'Rental charge' }).last().click();
    await page.getByRole('definition').filter({ hasText: '8 × H100 80 GB at mock' }).waitFor();
    await isCalled('8 × H100 80 GB (rent_');
  });

  it('is called by its family in the palette, with its state in words', async () => {
    const page = await visitor.open('/app');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill(id);
    await isCalled('8 × H100 80 GB');
    await page.getByText(`${id} · Running`).waitFor();
  });
});
