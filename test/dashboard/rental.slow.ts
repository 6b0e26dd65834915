import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { DashboardLab, type Visitor } from '../support/dashboard/dashboard.js';
import { HeldClock } from '../support/dashboard/held-clock.js';
import { failedRequest, newAlert, readAgain } from '../support/dashboard/failures.js';
import { answerWith, watchRequests } from '../support/dashboard/paying.js';
import { Renter } from '../support/dashboard/renter.js';
import { until } from '../support/until.js';

describe('the page of a rental', function () {
  this.timeout(60_000);
  const clock = new HeldClock();
  let lab: DashboardLab;
  let visitor: Visitor;
  let page: Page;
  let renter: Renter;
  before(async () => {
    const durations = { provisionMs: 50, endMs: 300, lostMs: 50 };
    lab = await DashboardLab.start({ clock, durations });
  });
  after(() => lab.stop());
  beforeEach(async () => {
    visitor = await lab.visit();
    page = visitor.page;
    renter = await Renter.signIn(visitor);
  });
  afterEach(async () => {
    clock.release();
    assert.deepEqual(visitor.complaints, []);
    await visitor.close();
  });

  const card = (name: string) => page.getByRole('region', { name, exact: true });
  const dialog = () => page.getByRole('dialog');
  const open = (id: string) => visitor.open(`/app/rentals/${id}`);
  /** A dear machine that runs: a cent each quarter of a second. */
  async function openRunning(fields: object = {}): Promise<string> {
    const id = await renter.rent({ familyId: 'b200', gpuCount: 8, name: 'dear', ...fields });
    await renter.reaches(id, 'running');
    await open(id);
    await card('Log in')
      .getByText(/^ssh -p/)
      .waitFor();
    return id;
  }

  it('follows a machine from the create until it can be entered, without a new load', async () => {
    clock.hold();
    const id = await renter.rent({ name: 'fresh' });
    await open(id);
    const steps = card('Getting ready').getByRole('listitem');
    await steps.first().waitFor();
    assert.equal(await steps.count(), 6);
    await page.getByText('The command appears here as soon as SSH answers.').waitFor();
    clock.release();
    await card('Log in')
      .getByText(/^ssh -p 22 root@203\.0\.113\.\d+$/)
      .waitFor();
    await page.getByText('Running', { exact: true }).waitFor();
    assert.equal(await card('Getting ready').count(), 0);
    const { hostKeyFingerprint } = await renter.rental(id);
    await card('Log in')
      .getByText(hostKeyFingerprint ?? '')
      .waitFor();
    await page.getByRole('button', { name: 'Copy the command' }).click();
    assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^ssh -p 22 root@/);
  });

  it('tells an attempt after the first, and a wait that is longer than usual', async () => {
    clock.hold();
    const id = await renter.rent({ name: 'slow' });
    const rental = await renter.rental(id);
    const before = new Date(Date.now() - 60_000).toISOString();
    const phase = { phase: 'queued', phaseSince: before, attempt: 2, expectedReadyAt: before };
    await answerWith(page, 'GET', `/v1/rentals/${id}`, { ...rental, ...phase });
    await open(id);
    await card('Getting ready')
      .getByText(/Machine no\. 2/)
      .waitFor();
    await card('Getting ready')
      .getByText(/longer than nine of ten/)
      .waitFor();
    await card('Getting ready')
      .getByText(/^for 1 min/)
      .waitFor();
    assert.equal(await card('Getting ready').locator('[aria-current=step]').textContent(), 'Queued: now');
  });

  it('ticks cost and hold, which add up to the hour that was held', async () => {
    await openRunning();
    const seen = new Set<string>();
    await until('it has ticked', async () => {
      const [cost = '', held = ''] = (await card('Cost').locator('dd.tabular').allInnerTexts()).map((text) =>
        text.replace(/[$.]/g, ''),
      );
      seen.add(cost);
      assert.equal(Number(cost) + Number(held), 3_992, `${cost} and ${held}`);
      return seen.size >= 4;
    });
  });

  it('shows its charges as a line, and as a table', async () => {
    const id = await openRunning();
    const from = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000).toISOString();
    const charge = { from, chargedCents: 1_234, refundedCents: 34, entries: 9 };
    const charges = { rentalId: id, interval: 'hour', charges: [charge], totalChargedCents: 1_200 };
    await answerWith(page, 'GET', `/v1/rentals/${id}/charges`, charges);
    await page.reload();
    const chart = page.getByRole('slider', { name: 'Total cost, hour by hour, up to $12.00', exact: true });
    const told = () => chart.getAttribute('aria-valuetext');
    await chart.focus();
    assert.match((await told()) ?? '', / · \$12\.00$/);
    await chart.press('Home');
    await until('its first point is told', async () => ((await told()) ?? '').endsWith(' · $0.00'));
    await page.getByText((await told()) ?? '', { exact: true }).waitFor();
    await card('Rate and total').getByText('As a table').click();
    const rows = await card('Rate and total').getByRole('row').allInnerTexts();
    assert.deepEqual(
      rows.slice(1).map((row) => row.match(/\$[\d.,]+/g)),
      [['$12.34', '$0.34'], ['$12.00']],
    );
  });

  it('draws the limit, and says at which rate it is reached', async () => {
    const id = await openRunning({ maxSpendCents: 9_980 });
    await page
      .getByRole('slider', { name: /^Total cost, hour by hour, up to \$\d+\.\d\d of a limit of \$99\.80$/ })
      .waitFor();
    await card('Rate and total')
      .getByText(/^\$0\.\d\d, at \$39\.92 an hour$/)
      .waitFor();
    await card('Rate and total')
      .getByText(/^\$99\.80, reached in 2 h \d+ min$/)
      .waitFor();
    await renter.stop(id);
    await card('Rate and total').getByRole('definition').getByText('$99.80', { exact: true }).waitFor();
  });

  it('tells what has accrued before the first cent', async () => {
    await openRunning({ familyId: 'rtx-4090', gpuCount: 1 });
    await card('Cost')
      .getByText(/^0\.\d+ ¢ so far$/)
      .waitFor();
    await card('Rate and total')
      .getByText(/^0(\.\d+)? ¢ so far, at \$0\.\d\d an hour\./)
      .waitFor();
  });

  it('says that the charges are not to be had, and shows them once they are', async () => {
    const id = await openRunning();
    await visitor.fail('GET', `/v1/rentals/${id}/charges`, 'forbidden');
    await page.reload();
    await card('Rate and total').getByText('Request ').waitFor();
    await page.unrouteAll();
    await readAgain(card('Rate and total'), card('Rate and total').getByRole('slider'));
  });

  it('renames, and labels', async () => {
    const id = await openRunning({ labels: { team: 'a' } });
    await page.getByRole('button', { name: 'Edit details' }).click();
    await dialog().getByLabel('Name').fill('renamed');
    await dialog().getByRole('button', { name: 'Add a label' }).click();
    await dialog().getByLabel('Key of label 2').fill('Bad key');
    await dialog()
      .getByText(/^Use 1 to 63/)
      .waitFor();
    assert(await dialog().getByRole('button', { name: 'Save' }).isDisabled());
    await dialog().getByLabel('Key of label 2').fill('project');
    await dialog().getByLabel('Value of label 2').fill('atlas');
    await dialog().getByRole('button', { name: 'Remove label 1' }).click();
    await dialog().getByLabel('Notes').fill('<b>one</b>\ntwo');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { level: 1, name: 'renamed' }).waitFor();
    await card('Details').getByText('project: atlas').waitFor();
    await card('Details').getByText('<b>one</b>').waitFor();
    const { name, labels, notes } = await renter.rental(id);
    const words = { name: 'renamed', labels: { project: 'atlas' }, notes: '<b>one</b>\ntwo' };
    assert.deepEqual({ name, labels, notes }, words);
  });

  it('sets, extends and takes away limits, and tells what they come to', async () => {
    const id = await openRunning();
    await card('Limits').getByText('It runs until you stop it or your balance runs out.').waitFor();
    await card('Limits').getByRole('button', { name: 'Change limits' }).click();
    await dialog().getByText('Without limits it can use up your whole balance.').waitFor();
    await dialog().getByLabel('Spending limit').fill('nothing');
    await dialog().getByText('Enter an amount such as 25 or 12.50').waitFor();
    await dialog().getByLabel('Spending limit').fill('20');
    await dialog().getByText('It will cost $20.00 at most.').waitFor();
    await dialog().getByRole('button', { name: '4 hours', exact: true }).click();
    await dialog().getByRole('button', { name: 'Save limits' }).click();
    await card('Limits')
      .getByText(/^\$19\.\d\d left$/)
      .waitFor();
    await card('Limits')
      .getByText(/^3 h 5\d min left$/)
      .waitFor();
    const { maxSpendCents, autoStopAt } = await renter.rental(id);
    assert.equal(maxSpendCents, 2_000);
    assert(Math.abs(Date.parse(autoStopAt ?? '') - Date.now() - 4 * 3_600_000) < 120_000);
    await card('Limits').getByRole('button', { name: 'Change limits' }).click();
    await dialog().getByLabel('Spending limit').fill('');
    await dialog().getByLabel('Stop at').fill('');
    await dialog().getByRole('button', { name: 'Save limits' }).click();
    await until('they are gone', async () => {
      const rental = await renter.rental(id);
      return rental.maxSpendCents === null && rental.autoStopAt === null;
    });
  });

  it('opens its limits for an address that asks for them, until they are closed', async () => {
    const id = await openRunning();
    await page.goto(`/app/rentals/${id}?limits=true`);
    await page.getByRole('heading', { name: 'Change limits' }).waitFor();
    await page.keyboard.press('Escape');
    await page.waitForURL(`**/app/rentals/${id}`);
    await dialog().waitFor({ state: 'detached' });
  });

  it('warns of a limit that ends it at once', async () => {
    const id = await openRunning();
    await until('it costs', async () => (await renter.rental(id)).totalChargedCents > 1);
    await card('Limits').getByRole('button', { name: 'Change limits' }).click();
    await dialog().getByLabel('Spending limit').fill('0.01');
    await dialog()
      .getByText(/^It has already reached this limit/)
      .waitFor();
    await dialog().getByRole('button', { name: 'Save limits' }).click();
    await page.getByText('It reached its spending limit.').waitFor();
  });

  /** Where it has no words of its own, the page names the request. */
  const changeFailures: [code: string, words?: RegExp][] = [
    ['rental_ending', /you can’t change its limits/],
    ['budget_reserved'],
    ['already_stopped', /you can’t change its limits/],
    ['validation_failed'],
    ['rental_not_found'],
  ];
  it('keeps what was typed when a change is refused, and takes another key for the next try', async () => {
    const id = await openRunning();
    await card('Limits').getByRole('button', { name: 'Change limits' }).click();
    await dialog().getByLabel('Spending limit').fill('20');
    const { keys } = watchRequests(page, 'PATCH', `/v1/rentals/${id}`);
    const save = dialog().getByRole('button', { name: 'Save limits' });
    for (const [code, words] of changeFailures) {
      await visitor.fail('PATCH', `/v1/rentals/${id}`, code);
      await save.click();
      const alert = dialog().getByRole('alert');
      await (words === undefined ? newAlert(alert) : alert.getByText(words).waitFor());
      assert.equal(await dialog().getByLabel('Spending limit').inputValue(), '20');
      await page.unrouteAll();
    }
    await save.click();
    await card('Limits').getByText('$20.00', { exact: true }).waitFor();
    assert.equal(new Set(keys).size, changeFailures.length + 1);
  });

  it('loads anew, once, when the question is gone after a deployment', async () => {
    await openRunning();
    let loads = 0;
    page.on('load', () => (loads += 1));
    await page.route(/assets\/stop-dialog/, (route) => route.fulfill({ status: 404 }));
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await until('it was loaded anew', () => loads === 1);
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await page.getByRole('alert').waitFor();
    assert.equal(loads, 1);
    visitor.complaints.splice(0);
  });

  it('stops, having told what it cost and that the data is lost', async () => {
    const id = await openRunning();
    await until('it costs', async () => (await renter.rental(id)).totalChargedCents > 1);
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await dialog().getByText('All data on the machine is lost.').waitFor();
    await dialog()
      .getByText(/^It has cost \$0\.\d\d\.$/)
      .waitFor();
    await dialog()
      .getByText(/^You get back the \$39\.\d\d still held right away\.$/)
      .waitFor();
    await dialog().getByRole('button', { name: 'Cancel' }).click();
    assert.equal((await renter.rental(id)).status, 'running');
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await dialog().getByRole('button', { name: 'Stop it now' }).click();
    await page.getByText('dear is stopping').waitFor();
    await page.getByText('You stopped it.').waitFor();
    const { totalChargedCents } = await renter.reaches(id, 'stopped');
    await card('Final bill')
      .getByText(`$0.${totalChargedCents.toString().padStart(2, '0')}`)
      .first()
      .waitFor();
    await until('it is known to be gone', async () =>
      /Machine released\s+Nov/.test(await card('Final bill').innerText()),
    );
    assert.equal(await page.getByRole('button', { name: 'Stop', exact: true }).count(), 0);
  });

  it('shows that it is being taken down until it is', async () => {
    const id = await openRunning();
    const rental = await renter.rental(id);
    await answerWith(page, 'GET', `/v1/rentals/${id}`, {
      ...rental,
      status: 'stopping',
      phase: null,
      stopReason: 'operator',
    });
    await page.reload();
    await page.getByText(/^Our operators stopped it\./).waitFor();
    await page.getByText('Shutting down').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Change limits' }).count(), 0);
    assert.equal(await page.getByRole('button', { name: 'Stop', exact: true }).count(), 0);
  });

  it('stays open when a stop fails, and tells the request', async () => {
    const id = await openRunning();
    await page.clock.install();
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    for (const code of ['internal_error', 'rate_limited', 'forbidden']) {
      // The client asks again by itself where that can do no harm: the first answers alone are none.
      await visitor.fail('POST', `/v1/rentals/${id}/stop`, code);
      await dialog().getByRole('button', { name: 'Stop it now' }).click();
      await newAlert(dialog().getByRole('alert'), () => page.clock.runFor(10_000));
      await page.unrouteAll();
    }
    assert.equal((await renter.rental(id)).status, 'running');
  });

  it('takes a stop by somebody else as its own', async () => {
    const id = await openRunning();
    await visitor.fail('POST', `/v1/rentals/${id}/stop`, 'already_stopped');
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await dialog().getByRole('button', { name: 'Stop it now' }).click();
    await dialog().waitFor({ state: 'detached' });
  });

  it('tells why a machine failed, and rents again by the same choices', async () => {
    const id = await renter.rent({ name: 'again', labels: { team: 'a' }, maxSpendCents: 700 }, 'fails');
    await renter.reaches(id, 'failed');
    await open(id);
    await page.getByText('The machine never started').waitFor();
    await page.getByText('You pay nothing: we returned the full amount.').waitFor();
    await card('Final bill').getByRole('link', { name: 'Rent again' }).click();
    await page.getByRole('heading', { level: 1, name: 'Rent RTX 4090' }).waitFor();
    assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'again');
    assert.equal(await page.getByLabel('Spending limit').inputValue(), '7.00');
    assert.equal(await page.getByLabel('Value of label 1').inputValue(), 'a');
  });

  it('tells that a machine was lost, as it happens', async () => {
    clock.hold();
    const id = await renter.rent({ name: 'lost' }, 'is_lost');
    await open(id);
    clock.release();
    await page.getByText('The machine was lost right after it started').waitFor();
    await card('Final bill').waitFor();
  });

  it('warns, and tells what to do', async () => {
    const id = await openRunning({ sshKeyIds: [] });
    await page.getByRole('alert').getByText('This machine has no SSH key').waitFor();
    const rental = await renter.rental(id);
    const warnings = ['ssh_unreachable', 'host_key_changed'];
    await answerWith(page, 'GET', `/v1/rentals/${id}`, { ...rental, warnings });
    await page.reload();
    await page.getByRole('alert').getByText('SSH does not answer').waitFor();
    await page.getByRole('alert').getByText('The host key has changed').waitFor();
    await page.getByRole('alert').getByRole('button', { name: 'Stop' }).first().click();
    await dialog().getByRole('button', { name: 'Stop it now' }).waitFor();
  });

  it('knows no rental of another account, and none that does not exist', async () => {
    const id = await renter.rent({ name: 'mine' });
    const stranger = await lab.visit();
    await stranger.signIn('stranger@example.com');
    for (const [who, path] of [
      [stranger, id],
      [visitor, 'rent_00000000000000000000000000'],
    ] as const) {
      await who.open(`/app/rentals/${path}`);
      await who.page.getByText('This rental does not exist, or it belongs to another account.').waitFor();
    }
    await stranger.close();
  });

  it('says that it could not be read, and shows it once it can', async () => {
    const id = await renter.rent({ name: 'one' });
    await visitor.fail('GET', `/v1/rentals/${id}`, 'forbidden');
    await open(id);
    await failedRequest(page).waitFor();
    await page.unrouteAll();
    await readAgain(page, page.getByRole('heading', { level: 1, name: 'one' }));
  });
});
