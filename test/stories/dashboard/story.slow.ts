import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { libraryClient } from '../../../tools/demo/ssh-client.js';
import { buildDashboard } from '../../support/dashboard/built.js';
import { visit, type Visitor } from '../../support/dashboard/dashboard.js';
import { ofStrangers } from '../../support/dashboard/failures.js';
import {
  addKey,
  fillPaymentPage,
  mailedCode,
  payFifty,
  signInByCode,
  stopIt,
} from '../../support/dashboard/story-steps.js';
import { isOneStory } from '../../support/one-story.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { newSshKeyPair } from '../../support/ssh-key-pair.js';
import { until } from '../../support/until.js';

const email = 'ann@example.com';

/** The whole way of one user in a browser, against the whole service, with a machine that answers SSH. */
describe('the dashboard, from the sign-in to the last cent', function () {
  this.timeout(120_000);
  isOneStory();
  let service: TestService;
  let ann: Visitor;
  let page: Page;
  /** Of the machine, from its page on. */
  let command: string;
  let chargedCents: number;
  const pair = newSshKeyPair();

  before(async () => {
    const dashboardFolder = await buildDashboard();
    service = await startService({ bootMs: 3_000, dashboardFolder });
    ann = await visit(service.api.url);
    ({ page } = ann);
  });
  after(async () => {
    await ann.close();
    await service.stop();
  });

  /** The cents that a text says: “Available $49.93” are 4993. */
  const centsIn = (text: string): number => {
    const [, dollars = ''] = /\$([\d,]+\.\d\d)/.exec(text) ?? [];
    assert.notEqual(dollars, '', text);
    return Math.round(Number(dollars.replaceAll(',', '')) * 100);
  };

  /** The figure of a page that has this name. */
  const figure = async (name: string): Promise<string> =>
    page.locator('main div:has(> dt)', { hasText: name }).locator('dd').first().innerText();

  const wallet = () => service.db('wallets').first();

  it('signs in with the code of a mail', async () => {
    await page.goto('/');
    await page.waitForURL(/\/login/);
    await signInByCode(page, email, () => mailedCode(service.inbox.url, email));
    const { cookies } = await ann.context.storageState();
    assert.ok(cookies.every(({ httpOnly }) => httpOnly));
  });

  it('adds an SSH key', async () => {
    await addKey(page, pair.public);
  });

  it('pays at the processor’s page, and sees the money arrive', async () => {
    await payFifty(page, () => fillPaymentPage(page));
    await until('the balance shows it', async () => centsIn(await figure('Available')) === 5_000);
    assert.equal((await wallet())?.available_cents, 5_000);
  });

  it('rents eight GPUs at the price of the quote', async () => {
    await page.goto('/app/rent/h100-80gb');
    await page.getByRole('radio', { name: /^8 GPUs/ }).check();
    await page.getByLabel('Stop after (hours)').fill('1');
    await until('the quote is of these choices', async () => {
      return (await figure('Costs at most')) === '$23.92';
    });
    await page.getByRole('button', { name: 'Rent for $23.92/h' }).click();
    await page.waitForURL(/\/app\/rentals\/rent_/);
  });

  it('sees it boot, and get ready, by itself', async () => {
    await page.getByText('Getting ready').waitFor();
    await page.getByText('Running', { exact: true }).first().waitFor({ timeout: 30_000 });
    command = await page.locator('code', { hasText: 'ssh ' }).first().innerText();
    assert.match(command, /^ssh -p \d+ \S+@127\.0\.0\.1$/);
  });

  it('enters it by the line that the page shows, whose key is the one that it shows', async () => {
    const [, port = '', username = '', host = ''] = /-p (\d+) (\S+)@(\S+)$/.exec(command) ?? [];
    const result = await libraryClient.run({
      ...{ host, port: Number(port), username },
      ...{ privatePem: pair.private, command: 'nvidia-smi --list-gpus' },
    });
    assert.equal(result.exitCode, 0, result.stderr);
    assert.equal(result.stdout.match(/^GPU \d: NVIDIA H100/gm)?.length, 8, result.stdout);
    await page.locator('code', { hasText: result.hostKeyFingerprint ?? 'a fingerprint' }).waitFor();
  });

  it('shows its cost tick, never beyond what is due by then', async () => {
    const costs: number[] = [];
    await until('three different figures', async () => {
      const cents = centsIn(await figure('So far'));
      if (cents !== costs.at(-1)) costs.push(cents);
      return costs.length >= 3;
    });
    assert.deepEqual(
      costs,
      costs.toSorted((a, b) => a - b),
    );
    const due = `extract(epoch from clock_timestamp() - running_at) * price_per_hour_cents / 3600`;
    const [rental] = await service.db('rentals').select({ cents: service.db.raw(`ceil(${due})::int`) });
    assert.ok((rental as { cents: number }).cents >= costs.at(-1)!, costs.join());
  });

  it('stops it after having asked, and says what it cost to the cent', async () => {
    await stopIt(page);
    const rental = await until('it is settled', async () => {
      const row = await service.db('rentals').first();
      return row?.settled_at instanceof Date && row;
    });
    chargedCents = rental.charged_cents;
    assert.ok(chargedCents > 0);
    await page.getByText('Final bill').first().waitFor();
    assert.equal(centsIn(await figure('Total cost')), chargedCents);
  });

  it('shows the balance, the ledger and the statement that the database has', async () => {
    const left = 5_000 - chargedCents;
    const row = await wallet();
    assert.deepEqual([row?.available_cents, row?.reserved_cents], [left, 0]);
    const entries = await service.db('ledger_entries').select('amount_cents');
    assert.equal(
      entries.reduce((sum, { amount_cents: cents }) => sum + cents, 0),
      left,
    );
    await page.goto('/app/billing');
    await until('the balance on the page', async () => centsIn(await figure('Available')) === left);
    const dollars = (cents: number): string => `$${(cents / 100).toFixed(2)}`;
    for (const [path, cents] of [
      ['/app/ledger', left],
      ['/app/statements', chargedCents],
      ['/app/statements', left],
    ] as const) {
      await page.goto(path);
      await page.locator('main').getByText(dollars(cents)).first().waitFor();
    }
  });

  it('complains of nothing on the whole way', () => {
    assert.deepEqual([ann.complaints, ann.outside], [[], []]);
    assert.deepEqual(
      ann.refusals.filter((refusal) => !ofStrangers.includes(refusal)),
      [],
    );
  });
});
