import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { Database } from '../../adapters/postgres/database.js';
import type { UserId } from '../../domain/ids.js';
import { post } from '../../money/ledger/post.js';
import { lockWalletOfUser } from '../../money/ledger/wallets.js';
import { forgetTasks, installProbe, readProbe, seenAt, settled, type Probed } from './page-probe.js';

const REST_WITHIN_MS = 60_000;
const SHOWN_WITHIN_MS = 30_000;

/** Somebody at a browser of their own, with nothing in its cache. */
export async function openContext(
  browser: Browser,
  apiUrl: string,
  cookie?: string,
): Promise<BrowserContext> {
  const context = await browser.newContext({
    locale: 'en-US',
    timezoneId: 'UTC',
    viewport: { width: 1_280, height: 800 },
  });
  await installProbe(context);
  const [name = '', value = ''] = (cookie ?? '').split('=');
  if (value !== '') await context.addCookies([{ name, value, url: apiUrl }]);
  return context;
}

/**
 * Loads a page with a cold cache, until no larger paint comes.
 * @param prepare is given the page before it loads anything
 */
export async function paint(
  context: BrowserContext,
  url: string,
  prepare?: (page: Page) => Promise<void>,
): Promise<Probed> {
  const page = await context.newPage();
  await prepare?.(page);
  await page.goto(url);
  const probed = await settled(page, REST_WITHIN_MS);
  await page.close();
  return probed;
}

/** How far one turn of the wheel goes, and how long a hand takes between two. */
const WHEEL_PIXELS = 600;
const WHEEL_EVERY_MS = 40;

/** The part of a list that its bar is dragged on at once. */
const DRAG_PART = 0.007;

/**
 * Looks for something far down a list: for half of the time by the wheel, then by dragging the bar to its end and back.
 * @param oldest a text that stands at the end of the list alone
 */
export async function scroll(page: Page, seconds: number, oldest: string): Promise<Probed> {
  const box = await page.getByRole('grid').boundingBox();
  if (!box) throw new Error(`${page.url()} has no list`);
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await forgetTasks(page);
  const halfMs = (seconds / 2) * 1_000;
  for (const endMs = performance.now() + halfMs; performance.now() < endMs;) {
    await page.mouse.wheel(0, WHEEL_PIXELS);
    await page.waitForTimeout(WHEEL_EVERY_MS);
  }
  for (const startMs = performance.now(); performance.now() < startMs + halfMs;) {
    const part = ((performance.now() - startMs) / WHEEL_EVERY_MS) * DRAG_PART;
    await drag(page, part % 2 < 1 ? part % 1 : 1 - (part % 1));
    await page.waitForTimeout(WHEEL_EVERY_MS);
  }
  await drag(page, 1);
  await seenAt(page, oldest, SHOWN_WITHIN_MS);
  return readProbe(page);
}

async function drag(page: Page, part: number): Promise<void> {
  const list = `document.querySelector('[role=grid]')`;
  await page.evaluate(`${list}.scrollTop = ${part} * ${list}.scrollHeight`);
}

/**
 * Credits a wallet and waits until the page shows what is in it then.
 * @returns from the commit until it stood on the page, in milliseconds
 */
export async function behindDatabase(page: Page, db: Database, userId: UserId, no: number): Promise<number> {
  const availableCents = await credit(db, userId, no);
  const committedMs = Date.now();
  return (await seenAt(page, dollars(availableCents), SHOWN_WITHIN_MS)) - committedMs;
}

async function credit(db: Database, userId: UserId, no: number): Promise<number> {
  return db.transaction(async (trx) => {
    const wallet = await lockWalletOfUser(trx, userId);
    await post(trx, wallet, {
      type: 'processor_topup',
      availableCents: 100 + no,
      cause: { kind: 'payment', paymentId: `bench-${userId}-${no}` },
    });
    return wallet.availableCents + 100 + no;
  });
}

function dollars(cents: number): string {
  return new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' }).format(cents / 100);
}
