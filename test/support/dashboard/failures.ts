import type { Locator, Page } from 'playwright-core';
import { until } from '../until.js';
import type { Visitor } from './visitor.js';

/** The refusals of what the sign-in page asks, where strangers may not know it. */
export const ofStrangers: readonly string[] = ['401 GET /v1/auth/me', '401 GET /v1/catalog/families'];

/** The line of an alert that names the request which failed, as support asks for it. */
export function failedRequest(within: Page | Locator): Locator {
  return within.getByRole('alert').getByText(/^Request /);
}

const namedRequests = new Set<string>();

/**
 * Waits until an alert names a request that none before it has named.
 * @param meanwhile is done between two looks
 * @returns the alert's text
 */
export function newAlert(
  alert: Locator,
  meanwhile: () => Promise<unknown> = () => Promise.resolve(),
): Promise<string> {
  return until('an alert names a new request', async () => {
    await meanwhile();
    const texts = await alert.allInnerTexts();
    return texts.find((text) => {
      // The text of an alert that is just leaving has no breaks: what follows the id touches it.
      const [request] = /Request [\da-f-]{36}/.exec(text) ?? [];
      return request !== undefined && !namedRequests.has(request) && namedRequests.add(request);
    });
  });
}

interface ReadAgain {
  /** The page's address. */
  readonly page: string;
  /** The path of what it shows at the API. */
  readonly reads: string;
  /** What stands there once it could be read. */
  readonly shows: Locator;
}

/** Asserts that a page says when what it shows can't be read, and reads it when asked again. */
export async function assertReadAgain(visitor: Visitor, { page, reads, shows }: ReadAgain): Promise<void> {
  await visitor.fail('GET', reads, 'internal_error');
  const opened = await visitor.open(page);
  await failedRequest(opened).waitFor();
  await opened.unrouteAll();
  await readAgain(opened, shows);
}

/**
 * Presses "Try again" until something is shown. What is shown of money and machines may be read again by itself, as
 * an event asks for it: then there is no button any more.
 */
export async function readAgain(within: Page | Locator, shows: Locator): Promise<void> {
  const again = within.getByRole('button', { name: 'Try again' }).first();
  await until('what failed is read again', async () => {
    if (await shows.isVisible()) return true;
    if (await again.isVisible()) await again.click({ timeout: 1_000 }).catch(() => undefined);
    return false;
  });
}
