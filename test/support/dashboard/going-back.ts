import type { Page } from 'playwright-core';

/** Lets no page of some addresses come up, so that a page which leads there stays as it was when it was left. */
export async function staysWhenLeft(page: Page, leadsTo: RegExp): Promise<void> {
  await page.route(leadsTo, (route) => route.fulfill({ status: 204 }));
}

/** Tells a page that somebody went back to it and that the browser shows it as it was left, as browsers do. */
export async function goBackTo(page: Page): Promise<void> {
  await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })));
}
