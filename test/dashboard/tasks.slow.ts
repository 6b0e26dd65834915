import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Locator } from 'playwright-core';
import { Hand } from '../support/dashboard/hand.js';
import { startLivedLab, type LivedLab } from '../support/dashboard/lived-lab.js';
import { Renter } from '../support/dashboard/renter.js';
import type { Visitor } from '../support/dashboard/visitor.js';
import { until } from '../support/until.js';

const readme = readFileSync(new URL('../../docs/dashboard/README.md', import.meta.url), 'utf8');
const phone = { width: 390, height: 844 };
const desk = { width: 1_280, height: 800 };

/** What people come for (docs/dashboard): each as somebody does it who knows what they want, counted press by press. */
interface Task {
  /** As its row in docs/dashboard calls it. */
  readonly name: string;
  readonly viewport?: typeof phone;
  /** Who does it; default: Ada, who has lived here for six weeks, from her overview. */
  readonly by?: 'somebody new' | 'a renter of four machines';
  play(hand: Hand, who: { visitor: Visitor; renter: Renter }): Promise<unknown>;
}

const tasks: readonly Task[] = [
  {
    name: 'The first machine, from nothing',
    by: 'somebody new',
    async play(hand, { visitor }) {
      const { page } = hand;
      await page.goto('/login');
      await hand.type(page.getByLabel('Email address'), 'new@example.com');
      await hand.press(page.getByRole('button', { name: 'Email me a code' }));
      await hand.paste(page.getByLabel('Six-digit code'), '123456');
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      await hand.press(page.getByRole('link', { name: 'Add an SSH key' }));
      await hand.press(dialog(hand).getByText('Create a pair'));
      await hand.type(dialog(hand).getByLabel('Name'), 'laptop');
      await hand.press(dialog(hand).getByRole('button', { name: 'Create the pair' }));
      await hand.press(dialog(hand).getByRole('button', { name: 'Download the file' }));
      await hand.press(dialog(hand).getByRole('button', { name: 'Done' }));
      await hand.press(page.getByRole('link', { name: 'Next: add money' }));
      await hand.press(page.getByRole('button', { name: '$25', exact: true }));
      await hand.press(page.getByRole('button', { name: /^Pay / }));
      await hand.press(page.getByRole('link', { name: 'Next: rent a machine' }));
      await hand.press(page.getByRole('main').getByRole('link', { name: 'RTX 4090' }));
      await hand.press(page.getByRole('button', { name: /^Rent for/ }));
      await hand.press(page.getByRole('button', { name: 'Copy the command' }).first());
      const { rentals } = await visitor.ask<{ rentals: unknown[] }>('GET', '/v1/rentals');
      assert.equal(rentals.length, 1);
    },
  },
  {
    name: 'What last week cost, by machine',
    async play(hand) {
      await hand.press(pageLink(hand, 'Ledger'));
      await hand.press(hand.page.getByText('7 days'));
      const spending = hand.page.getByRole('region', { name: 'Spending' });
      await spending.getByText('1 × B200').waitFor();
      // It ran nine days ago.
      await spending.getByText('2 × H100 80 GB').waitFor({ state: 'detached' });
    },
  },
  {
    name: 'Why the balance is lower than yesterday',
    async play(hand) {
      await hand.press(pageLink(hand, 'Ledger'));
      const today = hand.page.getByRole('region', { name: 'Days and rentals' }).getByRole('listitem').first();
      await today.getByRole('link', { name: 'llama-pretrain', exact: true }).waitFor();
    },
  },
  {
    name: 'Raise a limit, on the phone',
    viewport: phone,
    async play(hand, { renter }) {
      await hand.press(hand.page.getByRole('link', { name: 'llama-pretrain' }).first());
      await hand.press(hand.page.getByRole('button', { name: 'Change limits' }));
      await hand.type(dialog(hand).getByLabel('Spending limit'), '500');
      await hand.press(dialog(hand).getByRole('button', { name: 'Save limits' }));
      await until('it is raised', async () =>
        (await renter.rentals()).some(
          ({ name, maxSpendCents }) => name === 'llama-pretrain' && maxSpendCents === 50_000,
        ),
      );
    },
  },
  {
    name: 'Find a rental of last month',
    async play(hand) {
      await hand.press(pageLink(hand, 'Rentals'));
      await hand.type(hand.page.getByLabel('Search'), 'warmup');
      await hand.press(hand.page.getByRole('link', { name: 'pretrain-0-warmup' }));
      await hand.page.getByRole('heading', { level: 1, name: 'pretrain-0-warmup' }).waitFor();
    },
  },
  {
    name: 'Hand an agent $5',
    async play(hand, { visitor }) {
      await hand.press(pageLink(hand, 'API keys'));
      await hand.press(hand.page.getByRole('button', { name: 'Create a key' }));
      await hand.type(dialog(hand).getByLabel('Name'), 'agent');
      await hand.press(dialog(hand).getByLabel('Stop and limit only its own machines'));
      await hand.type(dialog(hand).getByLabel('Spend cap'), '5');
      await hand.press(dialog(hand).getByRole('button', { name: 'Create a key' }));
      await hand.press(dialog(hand).getByRole('button', { name: 'Copy the key' }));
      const { apiKeys } = await visitor.ask<{ apiKeys: { name: string; spendCapCents: number }[] }>(
        'GET',
        '/v1/api-keys',
      );
      assert.equal(apiKeys.find(({ name }) => name === 'agent')?.spendCapCents, 500);
    },
  },
  {
    name: 'Stop three of four machines',
    by: 'a renter of four machines',
    async play(hand, { renter }) {
      await hand.press(pageLink(hand, 'Rentals'));
      for (const name of ['one', 'two', 'three']) await hand.press(hand.page.getByLabel(`Select ${name}`));
      await hand.press(hand.page.getByRole('button', { name: 'Stop 3 machines' }));
      await hand.press(dialog(hand).getByRole('button', { name: 'Stop all 3' }));
      await until('three have stopped', async () => {
        const running = (await renter.rentals()).filter(({ status }) => status === 'running');
        return running.map(({ name }) => name).join() === 'four';
      });
    },
  },
  {
    name: 'Give this month a budget',
    async play(hand, { visitor }) {
      await hand.press(pageLink(hand, 'Budget'));
      await hand.type(hand.page.getByLabel('Monthly budget'), '600');
      await hand.press(hand.page.getByRole('button', { name: 'Save', exact: true }));
      await until('it is saved', async () => {
        const budget = await visitor.ask<{ monthlyCents: number | null }>('GET', '/v1/billing/budget');
        return budget.monthlyCents === 60_000;
      });
    },
  },
  {
    name: 'Last month’s statement, for the accountant',
    async play(hand) {
      await hand.press(pageLink(hand, 'Statements'));
      await hand.choose(hand.page.getByLabel('Month'), lastMonth());
      const download = hand.page.waitForEvent('download');
      await hand.press(hand.page.getByRole('link', { name: 'CSV file' }));
      const file = await download;
      assert.match(file.suggestedFilename(), /^statement-\d{4}-\d{2}\.csv$/);
      assert.match(readFileSync(await file.path(), 'utf8'), /rental_charge/);
    },
  },
  {
    name: 'Rent once more what ran last week',
    async play(hand) {
      await hand.press(pageLink(hand, 'Rentals'));
      await hand.press(hand.page.getByRole('link', { name: 'try a B200' }));
      await hand.press(hand.page.getByRole('link', { name: 'Rent again' }));
      await hand.press(hand.page.getByRole('button', { name: /^Rent for/ }));
      await hand.page.getByRole('heading', { level: 1, name: 'try a B200' }).waitFor();
    },
  },
  {
    name: 'Why a machine stopped',
    async play(hand) {
      await hand.press(pageLink(hand, 'Rentals'));
      await hand.press(hand.page.getByRole('link', { name: 'eval', exact: true }));
      await hand.page.getByText('It reached its spending limit.').first().waitFor();
    },
  },
  {
    name: 'Let the card add $100 at a time',
    async play(hand, { visitor }) {
      await hand.press(pageLink(hand, 'Billing'));
      await hand.press(hand.page.getByRole('button', { name: 'Change' }));
      await hand.type(hand.page.getByLabel('Add', { exact: true }), '100');
      await hand.press(hand.page.getByRole('button', { name: 'Save', exact: true }));
      await until('it is saved', async () => {
        const saved = await visitor.ask<{ topupAmountCents: number }>('GET', '/v1/billing/auto-topup');
        return saved.topupAmountCents === 10_000;
      });
    },
  },
];

/** What the table in docs/dashboard says that each asks for: | task | … | presses | seconds |. */
const told = new Map(
  [...readme.matchAll(/^\| ([^|]+?) +\|.*\| +(\d+) +\| +(\d+) +\|$/gm)].map(
    ([, name = '', presses, seconds]) =>
      [name, { presses: Number(presses), seconds: Number(seconds) }] as const,
  ),
);

const dialog = ({ page }: Hand): Locator => page.getByRole('dialog').or(page.getByRole('alertdialog'));

const pageLink = ({ page }: Hand, name: string): Locator =>
  page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true });

function lastMonth(): string {
  const now = new Date();
  const date = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1));
  return date.toLocaleDateString('en-US', { month: 'long', year: 'numeric', timeZone: 'UTC' });
}

describe('twelve tasks', function () {
  this.timeout(20_000);
  let lived: LivedLab;
  before(async () => {
    lived = await startLivedLab();
  });
  after(() => lived.stop());

  /** Whoever does a task stands on their overview, but for those who are not signed in yet. */
  async function begin({ by }: Task, visitor: Visitor): Promise<Renter> {
    if (by === 'somebody new') return new Renter(visitor);
    const renter =
      by === undefined ? new Renter(await visitor.signIn(lived.lived.email)) : await Renter.signIn(visitor);
    if (by !== undefined) {
      for (const name of ['one', 'two', 'three', 'four'])
        await renter.reaches(await renter.rent({ name }), 'running');
    }
    await visitor.open('/app');
    return renter;
  }

  it('are those that docs/dashboard tells', () => {
    assert.deepEqual(
      tasks.map(({ name }) => name),
      [...told.keys()],
    );
  });

  for (const task of tasks) {
    it(task.name, async () => {
      const visitor = await lived.lab.visit({ viewport: task.viewport ?? desk });
      const hand = new Hand(visitor.page);
      const renter = await begin(task, visitor);
      await task.play(hand, { visitor, renter });
      const { presses, seconds } = told.get(task.name) ?? { presses: 0, seconds: 0 };
      assert.ok(hand.presses <= presses, `${hand.presses} presses, where docs/dashboard says ${presses}`);
      assert.ok(hand.seconds <= seconds, `${hand.seconds} seconds, where docs/dashboard says ${seconds}`);
      await visitor.close();
    });
  }
});
