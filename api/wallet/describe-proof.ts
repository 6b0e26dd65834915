import { fields, monthField, needed, wholeFrom } from '../http/fields.js';
import {
  instant,
  listOf,
  named,
  object,
  orNull,
  text,
  whole,
  type JsonSchema,
} from '../http/openapi/json-schema.js';
import { operation } from '../http/openapi/operation.js';

const tag = 'Wallet';

export const proofQuery = fields({ month: needed(monthField) });

export const rootsQuery = fields({ after: wholeFrom(0).description('Roots with a higher number.') });

export const downloadProof = operation({
  method: 'get',
  path: '/v1/billing/proof',
  scope: 'billing',
  name: 'downloadProof',
  tag,
  summary: 'The proof of a month’s ledger',
  description:
    'A file of lines that `gpu verify` judges without the service. Where the service proves its ledger, it comes in the night after the month’s end (UTC).',
  query: proofQuery,
  refusals: ['proof_not_ready'],
  answers: [
    {
      description: 'The proof.',
      type: 'text/plain',
      schema: { type: 'string', pattern: '^proof 1 ' },
      examples: ['proof 1 2c4f0e0a7a5d4b6f9a3e1c8d7b6a5f4e 2026-10\n'],
      headers: { 'Content-Disposition': text },
    },
  ],
});

const hex = (digits: number, description: string): JsonSchema<string> => ({
  type: 'string',
  pattern: `^[0-9a-f]{${digits}}$`,
  description,
});

const root = named(
  'LedgerRoot',
  object({
    number: whole,
    line: { ...text, description: 'What is signed, with its line feed.' },
    endorsed: orNull(
      hex(128, 'What the key of the root before says of a new key.'),
      'Null where the key is the same.',
    ),
    signature: hex(128, 'Ed25519, of the line.'),
    signedAt: orNull(
      instant,
      'Null where a restore lost the root: it was read back, and no proof stands under it.',
    ),
  }),
);

export const listRoots = operation({
  method: 'get',
  path: '/v1/ledger/roots',
  name: 'listRoots',
  tag,
  summary: 'The signed roots of all ledgers, oldest first',
  description:
    'A hundred at most. Keep one where nobody of the service can write: it proves what was before it.',
  isPublic: true,
  query: rootsQuery,
  answers: [
    {
      description: 'Roots.',
      schema: object({ roots: listOf(root) }),
      examples: [{ roots: [] }],
    },
  ],
});
