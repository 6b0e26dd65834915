import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { readWebhookSearch } from '../../clients/dashboard/src/pages/webhooks/search.js';
import { groupTypes } from '../../clients/dashboard/src/pages/webhooks/types.js';
import { namedTypes } from '../../domain/webhooks/webhook.js';
import { DashboardLab, type Visitor } from '../support/dashboard/dashboard.js';
import { assertReadAgain, failedRequest, readAgain } from '../support/dashboard/failures.js';
import { until } from '../support/until.js';

interface ShownHook {
  readonly id: string;
  readonly state: string;
  readonly types: readonly string[];
  readonly url: string;
}

describe('the types that a webhook names', () => {
  it('are each in one group', () => {
    const types = namedTypes.filter((type) => type !== 'feed.resync' && type !== 'webhook.ping');
    const grouped = groupTypes(types as Parameters<typeof groupTypes>[0]).flatMap(([, some]) => some);
    assert.deepEqual([...grouped].sort(), [...types].sort());
  });
});

describe('the address of a webhook’s page', () => {
  it('tells which tries are shown', () => {
    assert.deepEqual(readWebhookSearch({ tries: 'failed', other: 1 }), { tries: 'failed' });
    assert.deepEqual(readWebhookSearch({ tries: 'all' }), {});
  });
});

describe('the pages of webhooks', function () {
  this.timeout(60_000);
  let lab: DashboardLab;
  let visitor: Visitor;
  let page: Page;
  let users = 0;
  before(async () => {
    lab = await DashboardLab.start({ durations: { cardMs: 50 } });
    visitor = await lab.visit();
  });
  after(() => lab.stop());
  beforeEach(async () => {
    await visitor.signInAnew(`webhooks-${(users += 1)}@example.com`);
    page = visitor.page;
  });
  afterEach(() => page.unrouteAll());

  const dialog = () => page.getByRole('dialog');
  const url = 'https://example.com/hooks';

  async function hooks(): Promise<ShownHook[]> {
    return (await visitor.ask<{ webhooks: ShownHook[] }>('GET', '/v1/webhooks')).webhooks;
  }
  /** Adds a webhook, and waits until it has answered its challenge. */
  async function addByApi(about: object = {}): Promise<string> {
    const { id } = await visitor.ask<ShownHook>('POST', '/v1/webhooks', { data: { url, ...about } });
    await until('the webhook is enabled', async () => (await hooks())[0]?.state === 'enabled');
    return id;
  }
  /** The numbers of the pings that a webhook was sent, the first one first. */
  async function pingsOf(id: string): Promise<number[]> {
    type Sent = { deliveries: { type: string; seq: number }[] };
    const { deliveries } = await visitor.ask<Sent>('GET', `/v1/webhooks/${id}/deliveries?pageSize=100`);
    const pings = deliveries.filter(({ type }) => type === 'webhook.ping');
    return pings.map(({ seq }) => seq).toReversed();
  }
  /** Shows a webhook otherwise than the mock has it. */
  async function showAs(id: string, state: object): Promise<void> {
    await page.route(`**/v1/webhooks/${id}`, async (route, request) => {
      if (request.method() !== 'GET') return route.fallback();
      const response = await route.fetch();
      return route.fulfill({ response, json: { ...((await response.json()) as object), ...state } });
    });
  }
  async function openForm(): Promise<void> {
    await visitor.open('/app/webhooks');
    await page.getByRole('button', { name: 'Add a webhook' }).first().click();
    await dialog().getByLabel('Address').fill(url);
  }
  const add = () => dialog().getByRole('button', { name: 'Add a webhook' }).click();

  it('adds a webhook for some types, shows its secret once, and follows it until it is enabled', async () => {
    await openForm();
    await dialog().getByLabel('Description').fill('deployments');
    await dialog().getByText('Only some').click();
    await dialog().getByRole('checkbox', { name: 'Keys and webhooks' }).check();
    await dialog().getByRole('checkbox', { name: 'webhook.removed' }).uncheck();
    await dialog().getByRole('checkbox', { name: 'rental.running' }).check();
    await add();
    const secret = await dialog()
      .getByText(/^whsec_/)
      .innerText();
    await dialog().getByText('answers 200 with this body').waitFor();
    await page.keyboard.press('Escape');
    await dialog().getByText('You have not saved it yet').waitFor();
    await dialog().getByRole('button', { name: 'Copy the secret' }).click();
    await dialog().getByText('Copied').waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), secret);
    await dialog().getByRole('button', { name: 'Done' }).click();
    const row = page.getByRole('listitem').filter({ hasText: 'deployments' });
    await row.getByText('On', { exact: true }).waitFor();
    assert.equal(await page.getByText(secret).count(), 0);
    assert.deepEqual((await hooks())[0]?.types, [
      'rental.running',
      ...['ssh_key.added', 'ssh_key.removed', 'webhook.created', 'webhook.changed', 'webhook.switched_off'],
    ]);
  });

  it('asks for at least one type, and sends none for all', async () => {
    await openForm();
    await dialog().getByText('Only some').click();
    await add();
    await dialog().getByText('Choose at least one, or all.').waitFor();
    await dialog().getByText('All', { exact: true }).click();
    await add();
    await dialog().getByText('Save the secret now').waitFor();
    assert.deepEqual((await hooks())[0]?.types, []);
  });

  it('says at the field what is wrong with an address, and keeps what was typed', async () => {
    await openForm();
    const address = dialog().getByLabel('Address');
    await address.fill('https://user:secret@example.com/');
    // Screen readers speak what comes into a place that was there before.
    const spoken = await address.locator('xpath=..').locator('[aria-live]').elementHandle();
    await add();
    await dialog().getByText('url must not contain a user name or password').waitFor();
    assert.match((await spoken.textContent()) ?? '', /user name or password/);
    assert.equal(await address.getAttribute('aria-describedby'), await spoken.getAttribute('id'));
    assert.equal(await address.getAttribute('aria-invalid'), 'true');
    assert.equal(await address.inputValue(), 'https://user:secret@example.com/');
  });

  it('tells why one could not be added, and keeps what was typed', async () => {
    await visitor.fail('POST', '/v1/webhooks', 'too_many_webhooks');
    await openForm();
    await add();
    await failedRequest(dialog()).waitFor();
    assert.equal(await dialog().getByLabel('Address').inputValue(), url);
  });

  it('shows what was sent, pings, and sends again from an event', async () => {
    const id = await addByApi();
    await visitor.open('/app/webhooks');
    await page.getByRole('link', { name: /example\.com/ }).click();
    await page.getByText('webhook.challenge').waitFor();
    await page.getByRole('button', { name: 'Send a ping' }).click();
    await page.getByRole('status').getByText('A ping is on its way').waitFor();
    const row = page.getByRole('listitem').filter({ hasText: 'webhook.ping' });
    await row.getByText('HTTP 200 · Try 1').waitFor();
    const [sent = 0] = await pingsOf(id);
    await row.getByRole('button', { name: `Send again from event ${sent}` }).click();
    assert.equal(await dialog().getByLabel('After event number').inputValue(), String(sent - 1));
    await dialog().getByLabel('After event number').fill('99');
    await dialog().getByRole('button', { name: 'Send again' }).click();
    await dialog().getByText(`afterSeq must be at most ${sent}:`).waitFor();
    await dialog().getByLabel('After event number').fill('-1');
    await dialog().getByRole('button', { name: 'Send again' }).click();
    await dialog().getByText('Enter a whole number, 0 or above.').waitFor();
    await dialog().getByLabel('After event number').fill('0');
    await dialog().getByRole('button', { name: 'Send again' }).click();
    await page.getByRole('status').getByText('Sending all events after 0 again').waitFor();
    assert.equal(new URL(page.url()).pathname, `/app/webhooks/${id}`);
  });

  it('sends again from the first event that never got through, and fills in nothing where all did', async () => {
    const id = await addByApi();
    for (let sent = 0; sent < 4; sent += 1) await visitor.ask('POST', `/v1/webhooks/${id}/ping`);
    const [, second = 0, third = 0, last = 0] = await pingsOf(id);
    const newest = page.getByRole('button', { name: 'Send again', exact: true }).first();
    await visitor.open(`/app/webhooks/${id}`);
    await page.getByText(`event ${last}`, { exact: true }).first().waitFor();
    await newest.click();
    assert.equal(await dialog().getByLabel('After event number').inputValue(), '');
    await dialog().getByRole('button', { name: 'Send again' }).click();
    await dialog().getByText('Enter a whole number, 0 or above.').waitFor();
    await page.route('**/deliveries*', async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as { deliveries: { seq: number | null }[] };
      const deliveries = body.deliveries.map((delivery) =>
        delivery.seq !== null && delivery.seq >= third ? { ...delivery, outcome: 'failed' } : delivery,
      );
      // The second one failed before it got through.
      const before = body.deliveries
        .filter(({ seq }) => seq === second)
        .map((delivery) => ({ ...delivery, id: 'dlv_before', outcome: 'failed' }));
      await route.fulfill({ response, json: { ...body, deliveries: [...deliveries, ...before] } });
    });
    await visitor.open(`/app/webhooks/${id}`);
    await page.getByText(`event ${last}`, { exact: true }).first().waitFor();
    await newest.click();
    assert.equal(await dialog().getByLabel('After event number').inputValue(), String(second));
  });

  it('shows the failed tries alone, over pages, and says of how many', async () => {
    const id = await addByApi();
    for (let sent = 0; sent < 60; sent += 1) {
      await visitor.ask('POST', `/v1/webhooks/${id}/ping`);
    }
    const sent = await pingsOf(id);
    await page.route('**/deliveries*', async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as { deliveries: { seq: number | null }[] };
      const deliveries = body.deliveries.map((one) =>
        one.seq === sent[1] ? { ...one, outcome: 'given_up', httpStatus: null, fault: 'timeout' } : one,
      );
      await route.fulfill({ response, json: { ...body, deliveries } });
    });
    await visitor.open(`/app/webhooks/${id}`);
    await page
      .getByText(`event ${sent.at(-1)}`, { exact: true })
      .first()
      .waitFor();
    await page.getByText('Failed', { exact: true }).click();
    await page.getByText('None of the last 50 tries failed').waitFor();
    assert.equal(new URL(page.url()).searchParams.get('tries'), 'failed');
    await page.getByRole('button', { name: 'More' }).last().click();
    await page.getByText('1 of the last 61 tries failed').waitFor();
    await page.getByText('No answer within 10 seconds · Try 1 · This was the last try.').waitFor();
    await page.reload();
    await page.getByText('None of the last 50 tries failed').waitFor();
  });

  it('makes a new secret after a question, and shows it once', async () => {
    const id = await addByApi();
    await visitor.open(`/app/webhooks/${id}`);
    await page.getByRole('button', { name: 'New secret' }).click();
    await dialog().getByText('For 24 hours we sign with both secrets').waitFor();
    const isTold = dialog().getByText('the one that your receiver uses now stops at once');
    // The answer to the first press gets lost.
    await page.route('**/rotate-secret', async (route) => {
      await route.fetch();
      await route.abort();
    });
    assert.equal(await isTold.count(), 0);
    await dialog().getByRole('button', { name: 'New secret' }).click();
    await isTold.waitFor();
    await page.unroute('**/rotate-secret');
    await dialog().getByRole('button', { name: 'New secret' }).click();
    await dialog()
      .getByText(/The previous one works until/)
      .waitFor();
    await dialog().getByRole('button', { name: 'Copy the secret' }).click();
    await dialog().getByRole('button', { name: 'Done' }).click();
    await dialog().waitFor({ state: 'hidden' });
    assert.equal(await page.getByText(/^whsec_/).count(), 0);
  });

  it('changes what differs alone', async () => {
    const id = await addByApi({ types: ['rental.running'] });
    await visitor.open(`/app/webhooks/${id}`);
    await page.getByRole('button', { name: 'Change' }).click();
    await dialog().getByRole('checkbox', { name: 'wallet.low' }).check();
    await dialog().getByLabel('Description').fill('alarms');
    const [request] = await Promise.all([
      page.waitForRequest((sent) => sent.method() === 'PATCH'),
      dialog().getByRole('button', { name: 'Save' }).click(),
    ]);
    assert.deepEqual(request.postDataJSON(), {
      description: 'alarms',
      types: ['rental.running', 'wallet.low'],
    });
    await page.getByRole('heading', { level: 1, name: 'alarms' }).waitFor();
  });

  it('says at the field that another address is refused', async () => {
    const id = await addByApi();
    await visitor.open(`/app/webhooks/${id}`);
    await page.getByRole('button', { name: 'Change' }).click();
    await dialog().getByLabel('Address').fill('https://example.com/#part');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await dialog().getByText('url must not contain #').waitFor();
  });

  it('removes a webhook after a question', async () => {
    const id = await addByApi();
    await visitor.open(`/app/webhooks/${id}`);
    await page.getByRole('button', { name: 'Remove' }).click();
    await dialog().getByRole('button', { name: 'Remove' }).click();
    await page.getByText('No webhooks yet').waitFor();
    await visitor.open(`/app/webhooks/${id}`);
    await page.getByText('Page not found').first().waitFor();
  });

  it('says why it was switched off, and switches it on again', async () => {
    const id = await addByApi();
    await showAs(id, { state: 'switched_off', switchedOffReason: 'gone' });
    await visitor.open(`/app/webhooks/${id}`);
    await page.getByText('Its receiver answered 410 Gone').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Send a ping' }).count(), 0);
    const [request] = await Promise.all([
      page.waitForRequest((sent) => sent.method() === 'PATCH'),
      page.getByRole('button', { name: 'Turn it on' }).click(),
    ]);
    assert.deepEqual(request.postDataJSON(), { url });
    await page.getByRole('status').getByText('We are sending the challenge').waitFor();
  });

  it('says what a challenge waits for, and since when all tries fail', async () => {
    const id = await addByApi();
    await showAs(id, { state: 'pending' });
    await visitor.open(`/app/webhooks/${id}`);
    await page.getByText('It has not answered its challenge yet').waitFor();
    await page.getByText('{"challenge": <data.challenge>}').waitFor();
    // A webhook that waits is looked at again and again: no event tells when it has answered.
    let looks = 0;
    page.on('request', (request) => {
      if (request.url().endsWith(id)) looks += 1;
    });
    await until('the page has looked again', () => looks >= 3);
    await page.unrouteAll();
    await page.getByText('It has not answered its challenge yet').waitFor({ state: 'hidden' });
    await showAs(id, { failingSince: '2026-11-20T08:00:00.000Z' });
    await visitor.open(`/app/webhooks/${id}`);
    await page.getByText('Nothing got through since Nov 20, 2026, 8:00:00 AM').waitFor();
  });

  describe('when a request fails', () => {
    const failures = [
      ['Send a ping', 'POST', '/ping', 'webhook_not_enabled'],
      ['New secret', 'POST', '/rotate-secret', 'webhooks_disabled'],
      ['Remove', 'DELETE', '', 'webhook_not_found'],
      ['Send again', 'POST', '/redeliver', 'webhook_not_enabled'],
    ] as const;
    for (const [button, method, path, code] of failures) {
      it(`tells that “${button}” did not work`, async () => {
        const id = await addByApi();
        await visitor.open(`/app/webhooks/${id}`);
        await visitor.fail(method, `/v1/webhooks/${id}${path}`, code);
        await page.getByRole('button', { name: button, exact: true }).first().click();
        if (path === '/ping') {
          await page
            .getByRole('status')
            .getByText(/webhook/)
            .waitFor();
          return;
        }
        if (path === '/redeliver') await dialog().getByLabel('After event number').fill('0');
        await dialog().getByRole('button', { name: button, exact: true }).click();
        await failedRequest(dialog()).waitFor();
      });
    }

    it('tells that it could not be changed or switched on', async () => {
      const id = await addByApi();
      await showAs(id, { state: 'switched_off', switchedOffReason: 'challenge_unanswered' });
      await visitor.fail('PATCH', `/v1/webhooks/${id}`, 'internal_error');
      await visitor.open(`/app/webhooks/${id}`);
      await page.getByRole('button', { name: 'Turn it on' }).click();
      await failedRequest(page).waitFor({ timeout: 20_000 });
      await page.getByRole('button', { name: 'Change' }).click();
      await dialog().getByLabel('Description').fill('another');
      await dialog().getByRole('button', { name: 'Save' }).click();
      await failedRequest(dialog()).waitFor({ timeout: 20_000 });
      assert.equal(await dialog().getByLabel('Description').inputValue(), 'another');
    });

    it('reads the list, a webhook and its deliveries again when asked', async () => {
      const id = await addByApi();
      await assertReadAgain(visitor, {
        page: '/app/webhooks',
        reads: '/v1/webhooks',
        shows: page.getByText(url),
      });
      await visitor.fail('GET', `/v1/webhooks/${id}`, 'internal_error');
      await visitor.open(`/app/webhooks/${id}`);
      await page.getByRole('alert').waitFor();
      await page.unrouteAll();
      await visitor.fail('GET', `/v1/webhooks/${id}/deliveries`, 'internal_error');
      await readAgain(page, page.getByRole('heading', { name: 'Details' }));
      await page.getByRole('alert').waitFor();
      await page.unrouteAll();
      await readAgain(page, page.getByText('webhook.challenge'));
    });
  });
});
