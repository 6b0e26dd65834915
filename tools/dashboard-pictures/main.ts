import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Browser, Page, Request } from 'playwright-core';
import { startChromium } from '../../lab/browser/chromium.js';
import { buildDashboardIfChanged, dashboardFolderOf } from '../../lab/dashboard/build.js';
import { pages, type WalkedPage } from '../../lab/dashboard/pages.js';
import { liveThrough, livedMs, type LivedAccount } from '../../lab/mock/lived/ada.js';
import { startMock } from '../../lab/mock/server.js';
import { SteeredClock } from '../../lab/mock/steered-clock.js';
import { reducePng } from './reduce-png.js';

/** Takes the pictures of docs/dashboard: each page in two sizes, of the mock's user Ada at one fixed instant. */
const endsAt = Date.parse('2026-11-18T14:05:09Z');

const sizes = { phone: { width: 390, height: 844 }, desk: { width: 1_280, height: 800 } };

const projectDir = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(projectDir, 'docs', 'dashboard');
/** The names that are asked for; all of them unless told. */
const asked = process.argv.slice(2);

const clock = new SteeredClock(endsAt - livedMs);
await buildDashboardIfChanged({ projectDir });
const mock = await startMock({ port: 0, clock, dashboardFolder: dashboardFolderOf(projectDir) });
const lived = await liveThrough(mock, clock);
const browser = await startChromium();
try {
  mkdirSync(folder, { recursive: true });
  removeFormer();
  for (const [size, viewport] of Object.entries(sizes)) await takeAll(browser, size, viewport);
} finally {
  await browser.close();
  await mock.stop();
}

function removeFormer(): void {
  const names = pages.flatMap(({ name }) => Object.keys(sizes).map((size) => `${name}-${size}.png`));
  for (const file of readdirSync(folder)) {
    if (file.endsWith('.png') && !names.includes(file)) rmSync(join(folder, file));
  }
}

async function takeAll(
  browser: Browser,
  size: string,
  viewport: { readonly width: number; readonly height: number },
): Promise<void> {
  const context = await browser.newContext({
    ...{ baseURL: mock.url, viewport, locale: 'en-US', timezoneId: 'UTC', reducedMotion: 'reduce' },
    ...{ colorScheme: 'light', isMobile: size === 'phone', hasTouch: size === 'phone' },
  });
  const page = await context.newPage();
  await page.clock.setFixedTime(endsAt);
  for (const walked of pages.toSorted((a, b) => Number(b.isPublic ?? false) - Number(a.isPublic ?? false))) {
    if (asked.length > 0 && !asked.includes(walked.name)) continue;
    if (!walked.isPublic) await signIn(page, lived);
    const bytes = await take(page, walked);
    const file = `${walked.name}-${size}.png`;
    writeFileSync(join(folder, file), bytes);
    console.log(`${file}: ${Math.ceil(bytes.length / 1_024)} KiB`);
  }
  await context.close();
}

async function signIn(page: Page, { email }: LivedAccount): Promise<void> {
  const { request } = page.context();
  if ((await request.get('/v1/auth/me')).ok()) return;
  await request.post('/v1/auth/verify-code', { data: { email, code: '123456' } });
}

/** Takes a page once all that it has asked for is shown. */
async function take(page: Page, { address }: WalkedPage): Promise<Buffer> {
  const underWay = new Set<Request>();
  const begun = (request: Request): void => void underWay.add(request);
  const ended = (request: Request): void => void underWay.delete(request);
  page.on('request', begun).on('requestfinished', ended).on('requestfailed', ended);
  await page.goto(address(lived));
  await page.locator('h1').first().waitFor();
  // The stream of events stays open.
  const isComing = async (): Promise<boolean> =>
    [...underWay].some((request) => new URL(request.url()).pathname !== '/v1/events/stream') ||
    (await page.locator('.animate-pulse:visible').count()) > 0;
  for (let calmLooks = 0; calmLooks < 5;) {
    calmLooks = (await isComing()) ? 0 : calmLooks + 1;
    await sleep(50);
  }
  page.off('request', begun).off('requestfinished', ended).off('requestfailed', ended);
  return reducePng(await page.screenshot({ animations: 'disabled', caret: 'hide' }));
}
