import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { auditKinds } from '../../domain/accounts/audit.js';
import { eventTypes } from '../../domain/events/events.js';
import { factsOf, toldBy } from '../../clients/dashboard/src/pages/activity/told.js';
import { activityTexts } from '../../clients/dashboard/src/texts/activity.js';
import { DashboardLab, type Visitor } from '../support/dashboard/dashboard.js';
import { readAgain } from '../support/dashboard/failures.js';
import { accountOf } from '../support/dashboard/ledgers.js';
import { until } from '../support/until.js';

describe('the words of the activity', () => {
  it('are there for each event and each record that the service knows', () => {
    assert.deepEqual(Object.keys(activityTexts.events).sort(), [...eventTypes].sort());
    assert.deepEqual(Object.keys(activityTexts.eventTypes).sort(), [...eventTypes].sort());
    assert.deepEqual(Object.keys(activityTexts.audit).sort(), [...auditKinds].sort());
  });

  it('hold what was told, and a dash for what was not', () => {
    const { events } = activityTexts;
    const settled = toldBy({ reason: 'user', chargedCents: 1_234, refundedCents: 0 });
    assert.match(events['rental.stopped'](settled), /\$12\.34 charged, \$0\.00 of its hold/);
    assert.match(events['rental.stopped'](toldBy({ chargedCents: 1.5 })), /: – charged/);
    assert.match(events['rental.warned'](toldBy({ warning: 'a_new_danger' })), /a new danger/);
    assert.match(events['webhook.changed'](toldBy({ changed: ['url', 'types'] })), /url, types/);
    for (const type of eventTypes) assert.ok(events[type](toldBy({})).length > 5);
  });

  it('tell each fact of a record', () => {
    assert.deepEqual(factsOf({ chargedCents: 5, why: 'x', none: null, nested: { a: 1 } }), [
      ['chargedCents', '$0.05'],
      ['why', 'x'],
      ['nested', '{"a":1}'],
    ]);
    assert.deepEqual(factsOf(null), []);
  });
});

describe('the activity in the dashboard', function () {
  this.timeout(90_000);
  let lab: DashboardLab;
  let visitor: Visitor;
  let page: Page;
  let email: string;
  let people = 0;

  before(async () => {
    lab = await DashboardLab.start();
  });
  after(() => lab.stop());
  beforeEach(async () => {
    visitor = await lab.visit();
    ({ page } = visitor);
    people += 1;
    email = `witness${people}@example.com`;
    await visitor.signIn(email);
  });
  afterEach(() => visitor.close());

  const lines = () => page.getByRole('main').getByRole('listitem');
  const tell = (index: number) => {
    const { user } = accountOf(lab.mock, email);
    lab.mock.world.events.tell(user.id, 'topup.expired', `top_${index}`, { amountCents: index });
  };

  it('tells events in words, the newest first, and new ones as they happen', async () => {
    await visitor.open('/app/activity');
    await lines().filter({ hasText: 'Someone signed in with a code by email.' }).waitFor();
    for (const [cents, shown] of [
      [111, '$1.11'],
      [222, '$2.22'],
      [333, '$3.33'],
    ] as const) {
      tell(cents);
      await lines().first().getByText(`A top-up of ${shown} expired`).waitFor();
    }
    assert.equal(await lines().first().getByRole('link').getAttribute('href'), '/app/billing');
    assert.equal(await lines().count(), 4);
    const { events } = await visitor.ask<{ events: [{ id: string }] }>('GET', '/v1/events?before=9');
    const [{ id }] = events;
    await page.getByRole('button', { name: `Copy id: ${id}` }).click();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), id);
  });

  it('reads on to the oldest, and filters by type in the address', async () => {
    for (let index = 1; index <= 60; index += 1) tell(index);
    await visitor.open('/app/activity');
    await lines().nth(49).waitFor();
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.getByText('We keep nothing older.').waitFor();
    assert.equal(await lines().count(), 61);
    await page.getByLabel('Type').selectOption('Signed in');
    await page.waitForURL('**/app/activity?type=session.started');
    await page.getByText('We keep nothing older.').waitFor();
    assert.equal(await lines().count(), 1);
    await page.getByLabel('Type').selectOption('Card saved');
    await page.getByText('No such activity yet').waitFor();
  });

  it('reads on to the oldest, though something happens meanwhile', async () => {
    for (let index = 1; index <= 60; index += 1) tell(index);
    await visitor.open('/app/activity');
    await lines().nth(49).waitFor();
    tell(777);
    await lines().first().getByText('$7.77').waitFor();
    const isOlder = (url: URL) => url.pathname === '/v1/events' && url.searchParams.has('before');
    let asked = 0;
    await page.route(isOlder, (route) => {
      asked += 1;
      // The first one is never answered: what happens has the list read anew, and gives it up.
      return asked === 1 ? undefined : route.continue();
    });
    await page.getByRole('button', { name: 'Show more' }).click();
    await until('it was asked for', () => asked > 0);
    tell(888);
    await lines().first().getByText('$8.88').waitFor();
    await page.getByText('We keep nothing older.').waitFor();
    assert.equal(await lines().count(), 63);
  });

  it('shows the audit trail, with what was changed and from where', async () => {
    await visitor.ask('PUT', '/v1/billing/budget', { data: { monthlyCents: 5_000, hard: false } });
    await visitor.open('/app/activity');
    await page.getByText('Audit trail', { exact: true }).click();
    await page.waitForURL('**/app/activity?tab=audit');
    const budget = lines().filter({ hasText: 'Changed the budget' });
    await budget.getByText('$50.00').waitFor();
    assert.match(await budget.innerText(), /from 127\.0\.0\.1/);
    await page.getByLabel('Kind').selectOption('Signed in');
    await page.waitForURL('**/app/activity?tab=audit&kind=signed_in');
    await lines().getByText('Signed in').waitFor();
    assert.equal(await lines().count(), 1);
  });

  it('counts wrong codes among the records of their hour', async () => {
    await page.route('**/v1/audit?*', async (route) => {
      const answer = await route.fetch();
      const failedSignIns = [{ hour: '2020-01-01T05:00:00.000Z', tries: 7 }];
      await route.fulfill({ json: { ...((await answer.json()) as object), failedSignIns } });
    });
    await visitor.open('/app/activity?tab=audit');
    await lines().last().getByText('7 wrong codes were entered').waitFor();
  });

  for (const [tab, path] of [
    ['', '/v1/events'],
    ['?tab=audit', '/v1/audit'],
  ] as const) {
    it(`tells that ${path} failed, and reads again when asked`, async () => {
      await visitor.fail('GET', path, 'internal_error');
      await visitor.open(`/app/activity${tab}`);
      const alert = page.getByRole('alert');
      await alert.getByText(/^Request /).waitFor();
      await page.unrouteAll();
      await readAgain(alert, lines().first());
      await alert.waitFor({ state: 'detached' });
    });
  }
});
