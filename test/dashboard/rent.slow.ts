import assert from 'node:assert/strict';
import type { Page, Request } from 'playwright-core';
import { DashboardLab, type Visitor } from '../support/dashboard/dashboard.js';
import { newAlert, readAgain } from '../support/dashboard/failures.js';
import { Renter } from '../support/dashboard/renter.js';
import { until } from '../support/until.js';

/** The search part of the address as the page has written it. */
const searchOf = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams);

describe('renting a machine', function () {
  this.timeout(60_000);
  let lab: DashboardLab;
  let visitor: Visitor;
  let page: Page;
  let renter: Renter;
  before(async () => {
    lab = await DashboardLab.start({ durations: { provisionMs: 500 } });
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

  const quote = () => page.getByRole('region', { name: 'Your quote' });
  const rentButton = () => quote().getByRole('button', { name: /^Rent for/ });
  const alert = () => quote().getByRole('alert');
  const isThere = async (path: RegExp) =>
    until(`${path} is there`, () => path.test(new URL(page.url()).pathname));
  /** The keys of the creates that the page has sent. */
  function watchCreates(): { key: string | undefined; quoteId: string }[] {
    const sent: { key: string | undefined; quoteId: string }[] = [];
    page.on('request', (request: Request) => {
      if (request.method() !== 'POST' || new URL(request.url()).pathname !== '/v1/rentals') return;
      const { quoteId } = request.postDataJSON() as { quoteId: string };
      sent.push({ key: request.headers()['idempotency-key'], quoteId });
    });
    return sent;
  }

  it('quotes the choices, and rents what was quoted', async () => {
    await visitor.open('/app/rent/h100-80gb?gpus=8');
    await rentButton().waitFor();
    assert.match(
      (await quote().innerText()).replaceAll('\n', ' '),
      /8 × H100 80 GB .*Price \$23\.92\/h .*Held while it runs \$23\.92 .*No limit .*Available after that \$76\.08 .*lasts 4 h 10 min .*ready in 1 s; nine of ten in 1 s .*held for (1:00|0:5\d)/,
    );
    await page.getByLabel('Stop after (hours)').fill('2');
    await page.getByLabel('Name', { exact: true }).fill('training');
    await page.getByRole('button', { name: 'Add a label' }).click();
    await page.locator('input:focus').pressSequentially('project');
    await page.getByLabel('Value of label 1').fill('atlas');
    await page.getByLabel('Template').selectOption({ label: 'vLLM' });
    await quote().getByText('$47.84').waitFor();
    await until('all stands in the address', () => searchOf(page)['labels'] !== undefined);
    // Nobody waits for the money to be read anew.
    await page.route('**/v1/billing/balance', () => undefined);
    await rentButton().click();
    await isThere(/^\/app\/rentals\/rent_/);
    await page.getByRole('heading', { level: 1, name: 'training' }).waitFor();
    const [rental, ...others] = await renter.rentals();
    assert.deepEqual(others, []);
    assert.deepEqual(
      [rental?.familyId, rental?.gpuCount, rental?.templateId, rental?.name, rental?.labels],
      ['h100-80gb', 8, 'vllm', 'training', { project: 'atlas' }],
    );
  });

  it('can be walked by keyboard alone', async () => {
    await visitor.open('/app/rent?q=l40s');
    await page.getByRole('link', { name: 'L40S' }).waitFor();
    await page.getByLabel('Sort by').focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await rentButton().waitFor();
    const reach = async (name: string, isReached: () => Promise<boolean>): Promise<void> => {
      for (let steps = 0; steps < 60; steps += 1) {
        if (await isReached()) return;
        await page.keyboard.press('Tab');
      }
      assert.fail(`Tab never reached ${name}`);
    };
    const hasFocus = (label: string) => () =>
      page.evaluate(
        (text) => document.activeElement?.closest('label')?.textContent.includes(text) === true,
        label,
      );
    await reach('the number of GPUs', hasFocus('1 GPU'));
    await page.keyboard.press('ArrowRight');
    await until('four are chosen', () => searchOf(page)['gpus'] === '4');
    const field = page.getByLabel('Spending limit');
    await reach('the spending limit', () => field.evaluate((element) => element === document.activeElement));
    await page.keyboard.type('12.50');
    await quote().getByText('$12.50').waitFor();
    await until('the price is that of four', async () => (await rentButton().innerText()).includes('$6.'));
    await until('it can be rented', () => rentButton().isEnabled());
    await reach('the button', () => rentButton().evaluate((element) => element === document.activeElement));
    await page.keyboard.press('Enter');
    await isThere(/^\/app\/rentals\/rent_/);
    assert.equal((await renter.rentals())[0]?.maxSpendCents, 1_250);
  });

  it('asks for the price again when its minute is over, and never takes another one silently', async () => {
    await page.clock.install();
    await visitor.open('/app/rent/rtx-4090');
    await rentButton().waitFor();
    await page.route('**/v1/quotes', async (route) => {
      const response = await route.fetch();
      const json = (await response.json()) as object;
      await route.fulfill({ response, json: { ...json, pricePerHourCents: 47, holdCents: 47 } });
    });
    await page.clock.runFor(61_000);
    await quote().getByText('This quote has expired.').waitFor();
    assert.equal(await rentButton().count(), 0);
    await quote().getByRole('button', { name: 'Get a new quote' }).click();
    await page.clock.runFor(1_000);
    await quote().getByText('The price changed from $0.40 to $0.47 an hour').waitFor();
    await quote().getByRole('button', { name: 'Rent for $0.47/h' }).waitFor();
  });

  it('says what is missing without a key, takes one, and quotes for it', async () => {
    await visitor.context.clearCookies();
    renter = await Renter.signIn(visitor, { hasKey: false });
    await visitor.open('/app/rent/rtx-4090');
    await quote().getByText('You have no SSH key yet, so nobody could log in to the machine.').waitFor();
    assert(await rentButton().isDisabled());
    await page.getByRole('button', { name: 'Add a key' }).click();
    await page.getByRole('dialog', { name: 'Add a key' }).waitFor();
    await page.keyboard.press('Escape');
    await renter.addKey('from elsewhere');
    await page.getByLabel('from elsewhere').waitFor();
    await until('it can be rented', () => rentButton().isEnabled());
    await page.getByLabel('from elsewhere').uncheck();
    await quote().getByText('Without a key nobody can log in to the machine. Choose at least one.').waitFor();
    await page.getByLabel('from elsewhere').check();
    await until('it can be rented', () => rentButton().isEnabled());
    await rentButton().click();
    await isThere(/^\/app\/rentals\/rent_/);
    assert.deepEqual((await renter.rentals())[0]?.warnings, []);
  });

  it('leads to money where it is missing, and rents once it has come', async () => {
    await visitor.context.clearCookies();
    renter = await Renter.signIn(visitor, { cents: 100 });
    await visitor.open('/app/rent/h100-80gb?gpus=8&hours=1&name=run');
    await quote().getByText('You need $22.92 more').waitFor();
    assert.equal(await rentButton().count(), 0);
    await quote().getByRole('link', { name: 'Add money' }).click();
    await isThere(/^\/app\/billing$/);
    assert.equal(searchOf(page)['amountCents'], '2292');
    await page.goBack();
    assert.equal(await page.getByLabel('Stop after (hours)').inputValue(), '1');
    assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'run');
    await quote().getByText('You need $22.92 more').waitFor();
    await renter.pay(5_000);
    await rentButton().waitFor();
  });

  it('tells what the service finds wrong at the field, and keeps what was typed', async () => {
    await visitor.open('/app/rent/rtx-4090');
    await rentButton().waitFor();
    await page.getByLabel('Stop after (hours)').fill('721');
    await page.getByText('Enter a number above 0, at most 720').waitFor();
    await page.getByLabel('Stop after (hours)').fill('3');
    await page.getByLabel('Spending limit').fill('99999999');
    await page
      .getByText(/maxSpendCents/)
      .first()
      .waitFor();
    assert.equal(await page.getByLabel('Spending limit').inputValue(), '99999999');
    assert.equal(await page.getByLabel('Spending limit').getAttribute('aria-invalid'), 'true');
  });

  it('rents nothing while a limit or a label is not right: it would be left out', async () => {
    await visitor.open('/app/rent/h100-80gb');
    await rentButton().waitFor();
    const rents = () => rentButton().isEnabled();
    await until('it can be rented', rents);
    const field = page.getByLabel('Spending limit');
    await field.fill('1O');
    await quote().getByText('Correct the marked fields. This price does not include them.').waitFor();
    assert.equal(await rents(), false);
    await field.fill('10');
    await until('the right limit is quoted', rents);
    await quote().getByText('$10.00').waitFor();
    await page.getByRole('button', { name: 'Add a label' }).click();
    await page.locator('input:focus').pressSequentially('Not A Key');
    await quote().getByText('Correct the marked fields. This price does not include them.').waitFor();
    assert.equal(await rents(), false);
    await page.getByLabel('Key of label 1').fill('team');
    await until('it can be rented again', rents);
  });

  it('takes a press while the price is on its way, where it is the price that was seen', async () => {
    await visitor.open('/app/rent/h100-80gb');
    await rentButton().waitFor();
    await page.getByLabel('Name', { exact: true }).fill('in a hurry');
    await rentButton().click();
    await isThere(/^\/app\/rentals\/rent_/);
    assert.equal((await renter.rentals())[0]?.name, 'in a hurry');
  });

  it('rents nothing by a press on a price without the limit that was typed last', async () => {
    await visitor.open('/app/rent/h100-80gb');
    await rentButton().waitFor();
    await page.getByLabel('Spending limit').fill('10');
    await rentButton().click();
    await quote().getByText('$10.00').waitFor();
    assert.deepEqual(await renter.rentals(), []);
    await until('it can be pressed again', () => rentButton().isEnabled());
    await rentButton().click();
    await isThere(/^\/app\/rentals\/rent_/);
    assert.equal((await renter.rentals())[0]?.maxSpendCents, 1_000);
  });

  it('chooses an alternative', async () => {
    await visitor.open('/app/rent/h100-80gb?gpus=8&hours=5');
    await quote()
      .getByRole('button', { name: /8 × A100 80 GB/ })
      .click();
    await page.getByRole('heading', { level: 1, name: 'Rent A100 80 GB' }).waitFor();
    await quote().getByText('8 × A100 80 GB').first().waitFor();
    assert.equal(searchOf(page)['hours'], '5');
  });

  const refusals: [code: string, words: RegExp, link?: string][] = [
    ['price_changed', /The price changed before you rented\.[\s\S]*Request /],
    ['quote_expired', /The quote expired\.[\s\S]*Request /],
    ['model_unavailable', /No longer available/],
    ['insufficient_balance', /Your balance is too low/, 'Add money'],
    ['budget_reserved', /This would exceed your budget/, 'View budget'],
    ['cap_reserved', /This would exceed the key’s cap/],
    ['key_not_found', /An SSH key was removed/],
    ['blocked', /Nothing was rented|unpaid invoice|Too many machines/],
    ['quote_not_found', /Nothing was rented/],
    ['validation_failed', /Nothing was rented/],
    ['forbidden', /Nothing was rented/],
    ['idempotency_conflict', /Nothing was rented/],
  ];
  it('has its own words for each refusal, and takes another key for the next try', async () => {
    const creates = watchCreates();
    await visitor.open('/app/rent/rtx-4090?name=kept');
    for (const [code, words, link] of refusals) {
      await visitor.fail('POST', '/v1/rentals', code);
      await rentButton().click();
      assert.match(await newAlert(alert()), words, code);
      if (link !== undefined) await alert().getByRole('link', { name: link }).waitFor();
      assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'kept');
      await page.unrouteAll();
      await until('it can be rented', () => rentButton().isEnabled());
    }
    await rentButton().click();
    await isThere(/^\/app\/rentals\/rent_/);
    assert.equal(new Set(creates.map(({ key }) => key)).size, refusals.length + 1);
  });

  it('offers what else there is when the machine is gone', async () => {
    await visitor.open('/app/rent/rtx-4090?gpus=8&max=1');
    await alert().getByText('No longer available').waitFor();
    await alert()
      .getByRole('button', { name: /RTX 4090/ })
      .first()
      .click();
    await rentButton().waitFor();
    assert.equal(searchOf(page)['max'], undefined);
  });

  it('tells the new price when the quote has run out at the service, and rents by the new quote', async () => {
    const slow = await DashboardLab.start({ durations: { quoteMs: 1 } });
    const other = await slow.visit();
    await Renter.signIn(other);
    await other.open('/app/rent/rtx-4090');
    const button = other.page.getByRole('button', { name: /^Rent for/ }).last();
    await button.click();
    await other.page.getByText('Check the new price, and rent if you accept it.').waitFor();
    await button.waitFor();
    await other.close();
    await slow.stop();
  });

  it('says when to try again after too many free machines, and sends the same key', async () => {
    const creates = watchCreates();
    await visitor.open('/app/rent/rtx-4090');
    // Large ones that ended in their first minute count for an hour, however slow this machine is.
    const runBriefly = async () => {
      const id = await renter.rent({ familyId: 'b200', gpuCount: 8 });
      await renter.reaches(id, 'running');
      await renter.stop(id);
      await renter.reaches(id, 'stopped');
    };
    for (let i = 0; i < 2; i += 1) await runBriefly();
    await rentButton().click();
    await alert().getByText('Too many machines stopped before they cost anything').waitFor();
    assert.match(await alert().innerText(), /before they cost anything.*Try again in \d+ minutes/);
    const again = alert().getByRole('button');
    assert.match(await again.innerText(), /^Try again in \d+ min( \d+ s)?$/);
    assert(await again.isDisabled());
    assert.equal(creates.length, 1);
  });

  it('asks again by the same quote and key while it is not known what became of a create', async () => {
    const creates = watchCreates();
    await visitor.open('/app/rent/rtx-4090');
    await rentButton().waitFor();
    // The service does it, and the answer is lost.
    await page.route('**/v1/rentals', async (route) => {
      await route.fetch();
      await route.abort('connectionreset');
    });
    await rentButton().click();
    await alert().getByText('We don’t know yet whether it was rented').waitFor();
    await alert().getByRole('link', { name: 'View rentals' }).waitFor();
    assert(await page.getByLabel('Stop after (hours)').isDisabled());
    assert(await rentButton().isDisabled());
    await page.unrouteAll();
    const again = alert().getByRole('button', { name: 'Check again' });
    // The first one is still under way.
    const error = { error: 'idempotency_in_progress', message: 'still', details: {}, requestId: 'req_1' };
    await page.route('**/v1/rentals', (route) => route.fulfill({ status: 409, json: error }));
    await again.click();
    await alert().getByText('req_1').waitFor();
    assert(await rentButton().isDisabled());
    await page.unrouteAll();
    await again.click();
    await isThere(/^\/app\/rentals\/rent_/);
    assert(creates.length > 2);
    for (const create of creates) assert.deepEqual(create, creates[0]);
    assert.equal((await renter.rentals()).length, 1);
    visitor.complaints.splice(0);
  });

  it('says that the quote was refused, and asks again', async () => {
    for (const code of ['blocked', 'unknown_family', 'forbidden']) {
      await visitor.fail('POST', '/v1/quotes', code);
      await visitor.open('/app/rent/rtx-4090');
      await alert()
        .getByText(/Request /)
        .waitFor();
      await page.unrouteAll();
      const again = alert().getByRole('button', { name: 'Try again' });
      if (await again.isVisible()) await again.click();
      else await page.reload();
      await rentButton().waitFor();
    }
  });

  it('says what failed to be read, and goes on once it answers', async () => {
    for (const path of ['/v1/catalog/listings', '/v1/ssh-keys']) {
      await visitor.fail('GET', path, 'forbidden');
      await visitor.open('/app/rent/rtx-4090');
      await page.getByRole('alert').getByText('Request ').first().waitFor();
      await page.unrouteAll();
      await readAgain(page, rentButton());
    }
  });

  it('keeps the price in reach on a phone, and leads to the quote', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await visitor.open('/app/rent/rtx-4090');
    const review = page.getByRole('button', { name: 'Review and rent' });
    await review.waitFor();
    const isOnTop = (button: Element): boolean => {
      const { x, y, width, height } = button.getBoundingClientRect();
      return button.contains(document.elementFromPoint(x + width / 2, y + height / 2));
    };
    assert(await review.evaluate(isOnTop));
    await review.click();
    await until('the quote is in sight', async () => {
      const top = (await quote().boundingBox())?.y ?? -1;
      return top >= 56 && top < 400;
    });
    await rentButton().click();
    await isThere(/^\/app\/rentals\/rent_/);
  });

  it('says that a family has nothing on offer', async () => {
    await visitor.open('/app/rent/a40');
    await page.getByText('Not available right now').waitFor();
  });
});
