import type { Page } from 'playwright-core';
import { until } from '../until.js';

/** Signs in on the sign-in page, wherever one was led from. @param code asked for once it was mailed */
export async function signInByCode(page: Page, email: string, code: () => Promise<string>): Promise<void> {
  await page.getByLabel('Email address').fill(email);
  await page.getByRole('button', { name: 'Email me a code' }).click();
  const field = page.getByLabel('Six-digit code');
  await field.waitFor();
  await field.fill(await code());
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
}

/** The code of the mail that somebody got. */
export function mailedCode(inboxUrl: string, email: string): Promise<string> {
  return until('the code arrives', async () => {
    const answer = await fetch(`${inboxUrl}/mails?to=${encodeURIComponent(email)}`);
    return /code is (\d{6})/.exec(await answer.text())?.[1];
  });
}

/** Adds an SSH key of the name “laptop” on its page. */
export async function addKey(page: Page, publicKey: string): Promise<void> {
  await page.goto('/app/keys');
  await page.getByRole('button', { name: 'Add a key' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('laptop');
  await dialog.getByLabel('Public key').fill(publicKey);
  await dialog.getByRole('button', { name: 'Add the key' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByText('laptop').first().waitFor();
}

/** Pays $50.00 from the billing page, and comes back to see it arrive. @param atProcessor what one does on its page */
export async function payFifty(page: Page, atProcessor?: () => Promise<void>): Promise<void> {
  await page.goto('/app/billing');
  await page.getByRole('textbox', { name: 'Amount' }).fill('50');
  await page.getByRole('button', { name: /^Pay \$50\.00/ }).click();
  await atProcessor?.();
  await page.waitForURL(/\/app\/billing\?session=success/);
  await page.getByText('$50.00 has arrived').waitFor();
}

/** Pays with a card that works on the lab's payment page. */
export async function fillPaymentPage(page: Page): Promise<void> {
  await page.waitForURL(/\/c\/pay\//);
  await page.getByLabel('Card number').fill('4242 4242 4242 4242');
  await page.getByLabel('Expiry (MM/YY)').fill('12/34');
  await page.getByLabel('Security code').fill('123');
  await page.getByRole('button', { name: 'Pay', exact: true }).click();
}

/** Stops the machine of the page that is open, and sees it stopped. */
export async function stopIt(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  const dialog = page.getByRole('dialog').or(page.getByRole('alertdialog'));
  await dialog.getByText('All data on the machine is lost.').waitFor();
  await dialog.getByRole('button', { name: 'Stop it now' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByText('Stopped', { exact: true }).first().waitFor({ timeout: 30_000 });
}
