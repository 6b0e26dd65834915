import { pageFields, fields, sixDigits } from '../http/fields.js';
import { accountLimits } from '../../domain/accounts/limits.js';
import { MINUTE } from '../../domain/durations.js';
import { done } from './describe-sign-in.js';
import {
  bool,
  exampleId,
  idOf,
  instant,
  named,
  object,
  orNull,
  text,
  whole,
} from '../http/openapi/json-schema.js';
import { idParameter, pageOf, operation, type Operation } from '../http/openapi/operation.js';

export const refreshProofSchema = fields({ code: sixDigits });

export const sessionsQuery = fields(pageFields);

const tag = 'Sign-in';
const minutes = accountLimits.freshProofMs / MINUTE;

const session = named(
  'OpenSession',
  object({
    id: idOf('ses'),
    isCurrent: { ...bool, description: 'The session of this request.' },
    device: orNull(text, 'The device that last used it, as the client describes itself.'),
    address: orNull(text, 'The address that last used it.'),
    createdAt: { ...instant, description: 'When somebody signed in.' },
    lastUsedAt: { ...instant, description: 'To the minute.' },
    provedAt: orNull(
      instant,
      'When the user last confirmed their identity; null when an identity provider did not say.',
    ),
    expiresAt: { ...instant, description: 'Unless it is used.' },
  }),
);
const example = {
  id: exampleId('ses'),
  isCurrent: true,
  device: 'Firefox on Linux',
  address: '203.0.113.7',
  createdAt: '2026-11-01T09:30:00.000Z',
  lastUsedAt: '2026-11-01T10:12:31.250Z',
  provedAt: '2026-11-01T09:30:00.000Z',
  expiresAt: '2026-12-01T10:12:31.250Z',
};

export const listSessions = operation({
  method: 'get',
  path: '/v1/auth/sessions',
  name: 'listSessions',
  tag,
  summary: 'Where you are signed in',
  description: 'The newest sign-in first.',
  query: sessionsQuery,
  answers: [pageOf('sessions', session, example)],
});

export const endSession = operation({
  method: 'delete',
  path: '/v1/auth/sessions/:id',
  name: 'endSession',
  tag,
  summary: 'Ends one session',
  description:
    'Its streams end within 2 seconds. To end the session you are using, call POST /v1/auth/logout, which also clears the cookie.',
  parameters: [idParameter('ses', 'a session', example.id)],
  answers: [{ description: 'Ended.', schema: done, examples: [{ ok: true }] }],
  refusals: ['session_not_found'],
});

export const endOtherSessions = operation({
  method: 'post',
  path: '/v1/auth/sessions/end-others',
  name: 'endOtherSessions',
  tag,
  summary: 'Ends all other sessions',
  answers: [
    {
      description: 'How many ended.',
      schema: object({ ended: whole }),
      examples: [{ ended: 2 }],
    },
  ],
});

export const refreshProof = operation({
  method: 'post',
  path: '/v1/auth/refresh-proof',
  name: 'refreshProof',
  tag,
  summary: 'Confirms who you are',
  description: `Takes two calls. Without a code, we email you one for this session: one in 30 seconds, ${accountLimits.proofCodesPerHour} an hour and ${accountLimits.proofCodesPerDay} a day, beside those of sign-ins. With the code, the sign-in counts as fresh for ${minutes} minutes, and the session gets a new \`sid\`: the old one stops working, and streams that it opened end with \`session_renewed\`. What makes API keys, SSH keys, passkeys, webhooks and their secrets, sets their addresses, sends them sign-ins, raises limits, exports the data or closes the account is 403 \`fresh_sign_in_required\` otherwise. A sign-in by an emailed code is fresh. One with an account elsewhere is as old as the provider says (GET …/oauth/:provider/start?fresh=true asks it for a new one); where it says nothing, a code is needed.`,
  body: { schema: refreshProofSchema, examples: [{}, { code: '123456' }] },
  answers: [
    {
      description: 'We sent a code, or the session is fresh.',
      schema: named(
        'RefreshedProof',
        object({
          codeMailed: bool,
          freshUntil: orNull(instant, 'Until when the sign-in counts as fresh; null: it does not.'),
        }),
      ),
      examples: [
        { codeMailed: true, freshUntil: null },
        { codeMailed: false, freshUntil: '2026-11-01T09:45:00.000Z' },
      ],
      headers: { 'Set-Cookie': text },
    },
  ],
  refusals: ['code_invalid', 'code_request_rate_limited'],
});

export const sessionOperations: readonly Operation[] = [
  listSessions,
  endSession,
  endOtherSessions,
  refreshProof,
];
