import { writeApiKey } from '../../domain/accounts/api-keys.js';
import { accountLimits } from '../../domain/accounts/limits.js';
import { DAY, MINUTE } from '../../domain/durations.js';
import { done } from '../accounts/describe-sign-in.js';
import { named, object } from '../http/openapi/json-schema.js';
import { idParameter, leadsTo, pageOf, type Operation } from '../http/openapi/operation.js';
import { apiKeyChangeSchema, apiKeySchema, apiKeysQuery, revokeQuery } from './request.js';
import { apiKey, apiKeyFields, exampleApiKey } from './shapes.js';

const tag = 'API keys';
const { apiKeyMs, freshProofMs, maxApiKeys } = accountLimits;

const unused = { ...exampleApiKey, lastUsedAt: null, lastUsedAddress: null };
const revoked = { ...exampleApiKey, revokedAt: '2026-11-02T08:00:00.000Z' };
/** Nobody's key: what anybody may read is no secret. */
const key = writeApiKey(() => 0);

const parameters = [idParameter('key', 'an API key', exampleApiKey.id)];

export const apiKeyOperations: readonly Operation[] = [
  {
    method: 'get',
    path: '/v1/api-keys',
    name: 'listApiKeys',
    tag,
    summary: 'The keys of your programs',
    description:
      'The newest first. Those that have ended stay for 90 days, those that rented something for good.',
    query: apiKeysQuery,
    answers: [pageOf('apiKeys', apiKey, exampleApiKey)],
  },
  {
    method: 'post',
    path: '/v1/api-keys',
    name: 'createApiKey',
    tag,
    summary: 'Makes a key',
    description: [
      'The key is in this answer and nowhere else; it is sent as `Authorization: Bearer gpur_…`. It holds for',
      `${apiKeyMs / DAY} days, or until \`expiresAt\`, a year ahead at most. Scopes do not hold one another: \`read\` reads`,
      'everything outside of /v1/billing, `rentals` creates, changes and stops rentals and asks for quotes, `billing`',
      'reads what is below /v1/billing and opens payment pages. No key makes keys, webhooks or stored SSH keys, nor',
      `changes cards, auto-topup or notices. Without \`allowedCidrs\` it may be used from anywhere. With \`spendCapCents\` what its rentals cost and may still cost never passes that sum, and it sees its own rentals alone. With \`ends: own\`, as for agents, it ends and limits no machine that it did not open. A user has ${maxApiKeys} keys`,
      `that hold, at most. It takes a sign-in that is younger than ${freshProofMs / MINUTE} minutes.`,
    ].join(' '),
    body: {
      schema: apiKeySchema,
      examples: [
        { name: 'dashboard', scopes: ['read'] },
        {
          ...{ name: 'training runs', scopes: ['read', 'rentals'], expiresAt: '2027-01-30T09:30:00Z' },
          ...{ allowedCidrs: ['192.0.2.0/24', '2001:db8::/32'], spendCapCents: 50_000 },
        },
        { name: 'agent', scopes: ['read', 'rentals'], ends: 'own', spendCapCents: 2_000 },
      ],
    },
    answers: [
      {
        description: 'The key.',
        schema: named(
          'CreatedApiKey',
          object({ ...apiKeyFields, key: { type: 'string', description: 'The key itself, shown once.' } }),
        ),
        examples: [{ ...unused, key }],
        links: leadsTo('/id', ['showApiKey', 'changeApiKey', 'revokeApiKey']),
      },
    ],
    refusals: ['too_many_keys', 'fresh_sign_in_required'],
  },
  {
    method: 'get',
    path: '/v1/api-keys/:id',
    name: 'showApiKey',
    tag,
    summary: 'One key',
    parameters,
    answers: [{ description: 'The key.', schema: apiKey, examples: [exampleApiKey, revoked] }],
    refusals: ['key_not_found'],
  },
  {
    method: 'patch',
    path: '/v1/api-keys/:id',
    name: 'changeApiKey',
    tag,
    summary: 'Changes a key that is not revoked',
    description:
      'Its scopes and its end stay: make another one. What lets it be used from more addresses, or cost more, takes a fresh sign-in. A cap below what is spent and reserved becomes that sum, as the answer shows. The first cap is refused while a rental of the key has no limit (`cap_reserved`).',
    parameters,
    body: {
      schema: apiKeyChangeSchema,
      examples: [
        { name: 'nightly runs' },
        { allowedCidrs: ['203.0.113.7'] },
        { allowedCidrs: null },
        { spendCapCents: 20_000 },
      ],
    },
    answers: [{ description: 'The key by now.', schema: apiKey, examples: [exampleApiKey] }],
    refusals: ['key_not_found', 'fresh_sign_in_required', 'cap_reserved'],
  },
  {
    method: 'delete',
    path: '/v1/api-keys/:id',
    name: 'revokeApiKey',
    tag,
    summary: 'Revokes a key for good',
    description:
      'Its streams end within 2 seconds. What it rented runs on, or with `stopMachines=true` is stopped: nothing is charged for the time after this request. Again, it only stops machines.',
    parameters,
    query: revokeQuery,
    answers: [{ description: 'Revoked.', schema: done, examples: [{ ok: true }] }],
    refusals: ['key_not_found'],
  },
];
