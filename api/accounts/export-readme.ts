/** The text that stands before the files of an export. @param at when the export is begun */
export function readmeOf(
  files: readonly { readonly name: string; readonly what: string }[],
  at: Date,
): string {
  const width = Math.max(...files.map(({ name }) => name.length)) + 2;
  return `Everything we hold about you, begun ${at.toISOString()}.

Each file shows what it holds at the moment it was written: while the archive was made, your machines may have gone on.

FILES

${files.map(({ name, what }) => `${name.padEnd(width)}${what}`).join('\n')}

HOW TO READ THEM

.json    One JSON document.
.jsonl   One JSON document on each line; an empty file is an empty list.
.csv     Comma-separated values with a line of names (RFC 4180).

Fields are those of the API: GET /v1/openapi.json describes each one. Amounts are whole US cents, and times are UTC
(ISO 8601).

WHAT IS NOT HERE

Secrets: API keys, webhook secrets, codes, and the variables and passwords of your own software. We keep them
hashed or sealed, or not at all.
Card numbers: only the payment processor has them.
Marks by which we recognize a card or a mailbox: they tell only that it is the same one.
Numbers by which the payment processor and the providers of machines find their own records.
Reports by which machines prove what they are: they are about the machines, not you.
What is on your machines’ disks: we never have it.
Receipts as PDF files: download each one with GET /v1/billing/topups/ID/receipt. What they say is in receipts.jsonl.
The proofs of your ledger: download a month’s with GET /v1/billing/proof.
Quotes and begun requests: they are gone within days, and what came of them is in rentals.jsonl and topups.jsonl.
Our staff’s notes and our comparisons of books: audit.jsonl tells what they changed for you.
`;
}
