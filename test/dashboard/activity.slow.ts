import assert from 'node:assert/strict';
import type { AuditEvent, Event } from '@gpu-rental/client';
import type { Page } from 'playwright-core';
import { auditKinds } from '../../domain/accounts/audit.js';
import { eventTypes } from '../../domain/events/events.js';
import { factsOf, tellEvent, tellRecord, toldBy } from '../../clients/dashboard/src/pages/activity/told.js';
import { activityTexts } from '../../clients/dashboard/src/texts/activity.js';
import { DashboardLab, type Visitor } from '../support/dashboard/dashboard.js';
import { readAgain } from '../support/dashboard/failures.js';
import { accountOf } from '../support/dashboard/ledgers.js';
import { Renter } from '../support/dashboard/renter.js';
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
    assert.match(events['rental.stopped'](toldBy({ chargedCents: 1.5 })), /; – charged/);
    assert.match(events['rental.warned'](toldBy({ warning: 'a_new_danger' })), /a new danger/);
    assert.match(
      events['rental.script_fetched'](toldBy({ fetch: 2, afterRestart: true })),
      /2 since it restarted/,
    );
    assert.match(events['rental.kept_alive'](toldBy({ by: 'machine' })), /, as asked on the machine$/);
    assert.match(events['webhook.changed'](toldBy({ changed: ['url', 'types'] })), /address, events/);
    const card = { brand: 'amex', last4: '0005' };
    assert.equal(events['card.saved'](toldBy(card)), 'A card was saved: American Express ending in 0005.');
    for (const type of eventTypes) assert.ok(events[type](toldBy({})).length > 5);
  });

  it('say which way a limit of a rental went, by the name of the rental', () => {
    const [early, late] = ['2026-11-01T10:00:00.000Z', '2026-11-01T12:00:00.000Z'];
    const told = (data: object, changed: string[]) => {
      const event = {
        type: 'rental.changed',
        entityId: 'rent_1',
        data: { changed, ...data },
      } as unknown as Event;
      return tellEvent(event, (id) => (id === 'rent_1' ? 'train-7' : undefined));
    };
    const spend = (now: number | null, before?: number | null) =>
      told({ maxSpendCents: now, ...(before !== undefined && { maxSpendCentsBefore: before }) }, [
        'maxSpendCents',
      ]);
    assert.equal(spend(2_000, 900), 'train-7: limit raised to $20.00');
    assert.equal(spend(900, 2_000), 'train-7: limit lowered to $9.00');
    assert.equal(spend(900, null), 'train-7: limit set to $9.00');
    assert.equal(spend(900), 'train-7: limit set to $9.00', 'of release 0.2');
    assert.equal(spend(null, 900), 'train-7: limit removed');
    const time = (now: string | null, before: string | null) =>
      told({ autoStopAt: now, autoStopAtBefore: before }, ['autoStopAt']);
    assert.match(time(late, early), /^train-7: extended until Nov 1, 2026/);
    assert.match(time(early, late), /^train-7: shortened, stops at Nov 1/);
    assert.match(time(early, null), /^train-7: set to stop at /);
    assert.equal(time(null, early), 'train-7: time limit removed');
    assert.equal(time(null, null), 'train-7: time limit changed');
    const words = { maxSpendCents: 500, maxSpendCentsBefore: 100 };
    assert.equal(
      told(words, ['name', 'labels', 'notes', 'maxSpendCents', 'image']),
      'train-7: renamed, labels changed, notes changed, limit raised to $5.00, image',
    );
  });

  it('name what a record is of, which a change tells in what it holds', () => {
    const names: Record<string, string> = { rent_1: 'train-7', key_1: 'ci', wh_1: 'ops.example.com' };
    const told = (kind: string, entityId: string | null, details: object | null = null, named = names) =>
      tellRecord({ kind, entityId, details } as unknown as AuditEvent, (id) => named[id]);
    assert.equal(told('rental_stopped', 'rent_1'), 'Stopped train-7');
    const change = {
      rentalId: 'rent_1',
      changed: ['maxSpendCents'],
      maxSpendCents: 5,
      maxSpendCentsBefore: 1,
    };
    assert.equal(told('rental_changed', 'chg_1', change), 'Changed train-7: limit raised to $0.05');
    const key = { keyId: 'key_1', changed: ['spendCapCents', 'allowedCidrs'] };
    assert.equal(told('api_key_changed', null, key), 'Changed API key “ci”: cap, allowed addresses');
    const hook = { webhookId: 'wh_1', changed: ['url'] };
    assert.equal(told('webhook_changed', null, hook), 'Changed webhook “ops.example.com”: address');
    assert.equal(told('api_key_revoked', 'key_1', null, {}), 'Revoked an API key');
    assert.equal(told('card_saved', 'pm_1'), 'Saved a card');
    assert.match(told('something_new', null), /something_new/);
  });

  it('tell each fact of a record', () => {
    const record = {
      chargedCents: 5,
      hard: true,
      stopMachines: false,
      scopes: ['read', 'rentals'],
      none: null,
    };
    assert.deepEqual(factsOf({ ...record, reason: 'auto_stop', nested: { a: 1 } }), [
      ['charged', '$0.05'],
      ['strict', 'yes'],
      ['stop machines', 'no'],
      ['scopes', 'read, rentals'],
      ['reason', 'it reached its time limit'],
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

  it('tells rentals by their names, which way a limit went, and what was done to which', async () => {
    const renter = await Renter.signIn(visitor);
    const id = await renter.rent({ name: 'first', maxSpendCents: 900 });
    const nameless = await renter.rent({});
    await visitor.ask('PATCH', `/v1/rentals/${id}`, { data: { maxSpendCents: 2_000, name: 'train-7' } });
    await visitor.open('/app/activity');
    const changed = lines().filter({ hasText: 'train-7: renamed, limit raised to $20.00' });
    assert.equal(await changed.getByRole('link').getAttribute('href'), `/app/rentals/${id}`);
    await lines().filter({ hasText: '1 × RTX 4090: rented' }).waitFor();
    await visitor.open('/app');
    await page.getByRole('main').getByText('train-7: renamed, limit raised to $20.00').waitFor();
    await visitor.open('/app/activity?tab=audit');
    const record = lines().filter({ hasText: 'Changed train-7: renamed, limit raised to $20.00' });
    assert.equal(await record.getByRole('link').getAttribute('href'), `/app/rentals/${id}`);
    assert.doesNotMatch(await page.getByRole('main').innerText(), /Cents/);
    await renter.stop(nameless);
    await lines().filter({ hasText: 'Stopped 1 × RTX 4090' }).waitFor();
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
