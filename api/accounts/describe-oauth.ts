import { joi, fields, orElse } from '../http/fields.js';
import { listOf, named, object, text, url } from '../http/openapi/json-schema.js';
import {
  operation,
  type DescribedAnswer,
  type Operation,
  type Parameter,
} from '../http/openapi/operation.js';

/** A path of the dashboard. Two slashes at the beginning name another host, and browsers take \ for /. */
export const startQuery = fields({
  returnTo: orElse(
    joi
      .string()
      .max(2_000)
      .pattern(/^\/(?!\/)[!-[\]-~]*$/, 'a path of the dashboard'),
    '/app',
  ),
  fresh: orElse(
    joi.boolean().description('Asks the provider to confirm the person’s identity again, if it can.'),
    false,
  ),
});

const tag = 'Sign-in';

const provider: Parameter = {
  name: 'provider',
  in: 'path',
  description: 'One of GET /v1/auth/providers.',
  schema: text,
  example: 'google',
};

/** A parameter that the provider appends to the address; the service checks it itself. */
const ofProvider = (name: string, description: string, example: string): Parameter => {
  return { name, in: 'query', description, schema: text, example };
};

/** An answer that redirects. Its body is for people whose browser does not follow it. */
const redirect = (description: string): DescribedAnswer => ({
  status: 302,
  description,
  type: '*/*',
  schema: {},
  examples: [],
  headers: { Location: url, 'Set-Cookie': text },
});

export const listProviders = operation({
  method: 'get',
  path: '/v1/auth/providers',
  name: 'listProviders',
  tag,
  summary: 'Other ways to sign in',
  isPublic: true,
  answers: [
    {
      description: 'All of them; empty if none is set up.',
      schema: object({ providers: listOf(named('SignInProvider', object({ id: text, name: text }))) }),
      examples: [{ providers: [{ id: 'google', name: 'Google' }] }],
    },
  ],
});

export const startOAuth = operation({
  method: 'get',
  path: '/v1/auth/oauth/:provider/start',
  name: 'startOAuth',
  tag,
  summary: 'Sends the browser to an identity provider',
  isPublic: true,
  parameters: [provider],
  query: startQuery,
  answers: [redirect('To the provider, or to the dashboard’s sign-in page with `error` when it is away.')],
  refusals: ['not_found'],
});

export const finishOAuth = operation({
  method: 'get',
  path: '/v1/auth/oauth/:provider/callback',
  name: 'finishOAuth',
  tag,
  summary: 'The provider’s redirect back',
  description: 'Signs in only with a verified email address, and only in the browser that started it.',
  isPublic: true,
  parameters: [
    provider,
    ofProvider('code', 'What the service asks the provider with.', '4/0AbCdEf'),
    ofProvider('state', 'Which sign-in it answers.', 'q1w2e3'),
    ofProvider('error', 'Why the provider refused.', 'access_denied'),
  ],
  answers: [redirect('To the dashboard, signed in; or to its sign-in page with an `error`.')],
  refusals: ['not_found', 'oauth_state_mismatch'],
});

export const oauthOperations: readonly Operation[] = [listProviders, startOAuth, finishOAuth];
