import assert from 'node:assert/strict';
import type { Person } from './person.js';

interface NewInvoice {
  readonly amountCents: number;
  readonly description?: string;
  readonly givenUp?: boolean;
}

/** Gives somebody an invoice, by a route that only the mock has. @returns its id */
export async function issueInvoice({ url, elsewhere }: Person, invoice: NewInvoice): Promise<string> {
  const answer = await fetch(`${url}/mock/invoices`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Cookie: `sid=${elsewhere.sid ?? ''}` },
    body: JSON.stringify(invoice),
  });
  assert.equal(answer.status, 200);
  return ((await answer.json()) as { id: string }).id;
}
