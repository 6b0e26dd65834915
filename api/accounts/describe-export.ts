import { accountLimits } from '../../domain/accounts/limits.js';
import { text } from '../http/openapi/json-schema.js';
import { operation } from '../http/openapi/operation.js';

export const exportAccount = operation({
  method: 'get',
  path: '/v1/account/export',
  name: 'exportAccount',
  tag: 'Sign-in',
  summary: 'Everything we hold about you, as one ZIP archive',
  description: [
    'Rentals, money, keys, sign-ins, emails and the rest, as JSON lines and CSV; README.txt in it says what each file is. No',
    'secret is in it. It is written while you read it, each file as of its moment. Read at least 16 KiB in each 30 s. One',
    `runs at a time, and ${accountLimits.exportsPerHour} may begin in an hour. An archive that ends early does not open: ask for`,
    'it again. We email you that it was made.',
  ].join(' '),
  answers: [
    {
      description: 'The archive.',
      type: 'application/zip',
      schema: { type: 'string', contentMediaType: 'application/zip' },
      examples: ['PK …'],
      headers: { 'Content-Disposition': text },
    },
  ],
  refusals: ['forbidden', 'fresh_sign_in_required', 'export_running'],
});
