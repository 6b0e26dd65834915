import { emailField, fields, needed, wordOf, sixDigits } from '../http/fields.js';
import { apiKey } from '../api-keys/shapes.js';
import {
  bool,
  exampleId,
  idOf,
  instant,
  named,
  object,
  orNull,
  text,
  yes,
} from '../http/openapi/json-schema.js';
import { operation, type Operation } from '../http/openapi/operation.js';

export const requestCodeSchema = fields({ email: emailField, intent: wordOf(['login', 'signup']) });

export const verifyCodeSchema = fields({ email: emailField, code: needed(sixDigits) });

const tag = 'Sign-in';
const email = 'ann@example.com';

export const user = named('User', object({ id: idOf('usr'), email: text, createdAt: instant }));
export const exampleUser = { id: exampleId('usr'), email, createdAt: '2026-11-01T09:30:00.000Z' };
export const expiresAt = '2026-12-01T09:30:00.000Z';

/** The answer of a sign-in. */
export const signedIn = named('SignedIn', object({ user, created: bool, expiresAt: instant }));

/** The answer of POST …/logout and of the removals. */
export const done = named('Done', object({ ok: yes }));

export const requestCode = operation({
  method: 'post',
  path: '/v1/auth/request-code',
  name: 'requestCode',
  tag,
  summary: 'Emails a one-time code',
  description:
    'The answer is the same whether or not the account exists and whether or not we sent an email: a mailbox gets one in 30 seconds, 5 an hour and 20 a day, whatever tags its addresses have. A 429 counts only requests of this browser or client address. Keep the cookie `browser` and send it with the code: the code then has five tries that nobody else can use up. Without it, all others share five.',
  isPublic: true,
  body: { schema: requestCodeSchema, examples: [{ email }, { email, intent: 'signup' }] },
  answers: [
    {
      description: 'We sent the code, unless the mailbox has reached its limit.',
      schema: done,
      examples: [{ ok: true }],
      headers: { 'Set-Cookie': text },
    },
  ],
  refusals: ['invalid_email', 'code_request_rate_limited'],
});

export const verifyCode = operation({
  method: 'post',
  path: '/v1/auth/verify-code',
  name: 'verifyCode',
  tag,
  summary: 'Signs in with a code from an email',
  description:
    'Creates the account if it does not exist. A code works once. Wrong and expired codes get the same refusal.',
  isPublic: true,
  body: { schema: verifyCodeSchema, examples: [{ email, code: '123456' }] },
  answers: [
    {
      description: 'Signed in: the cookie `sid` is the session.',
      schema: signedIn,
      examples: [{ user: exampleUser, created: true, expiresAt }],
      headers: { 'Set-Cookie': text },
    },
  ],
  refusals: ['invalid_email', 'code_invalid'],
});

export const showMe = operation({
  method: 'get',
  path: '/v1/auth/me',
  scope: 'read',
  name: 'showMe',
  tag,
  summary: 'The signed-in user, or the owner of the key',
  answers: [
    {
      description: 'The user, and when the session ends unless it is used, or the key.',
      schema: named(
        'Session',
        object(
          {
            user,
            expiresAt: instant,
            freshUntil: orNull(instant, 'Until when the sign-in counts as fresh; null: it does not.'),
            closingSince: orNull(instant, 'Since when the account is being closed; null: it is not.'),
            apiKey: { ...apiKey, description: 'Only in answers to a key.' },
          },
          ['apiKey'],
        ),
      ),
      examples: [
        { user: exampleUser, expiresAt, freshUntil: '2026-11-01T09:45:00.000Z', closingSince: null },
      ],
    },
  ],
});

export const logOut = operation({
  method: 'post',
  path: '/v1/auth/logout',
  name: 'logOut',
  tag,
  summary: 'Ends this session',
  description: 'Ends only this session, and clears the cookie.',
  answers: [
    {
      description: 'Signed out.',
      schema: done,
      examples: [{ ok: true }],
      headers: { 'Set-Cookie': text },
    },
  ],
});

export const authOperations: readonly Operation[] = [requestCode, verifyCode, showMe, logOut];
