import { writeApiKey } from '../../domain/accounts/api-keys.js';
import { accountLimits } from '../../domain/accounts/limits.js';
import { DAY, MINUTE } from '../../domain/durations.js';
import { done } from '../accounts/describe-sign-in.js';
import { named, object, text } from '../http/openapi/json-schema.js';
import { idParameter, leadsTo, pageOf, operation, type Operation } from '../http/openapi/operation.js';
import { apiKeyChangeSchema, apiKeySchema, apiKeysQuery, revokeQuery } from './request.js';
import { apiKey, apiKeyFields, exampleApiKey } from './shapes.js';

const tag = 'API keys';
const { apiKeyKeptMs, apiKeyMs, freshProofMs, maxApiKeys } = accountLimits;

const unused = { ...exampleApiKey, lastUsedAt: null, lastUsedAddress: null };
const revoked = { ...exampleApiKey, revokedAt: '2026-11-02T08:00:00.000Z' };
/** Nobody's key: what anybody may read is no secret. */
const key = writeApiKey(() => 0);

const parameters = [idParameter('key', 'an API key', exampleApiKey.id)];

export const listApiKeys = operation({
  method: 'get',
  path: '/v1/api-keys',
  name: 'listApiKeys',
  tag,
  summary: 'The keys of your programs',
  description: `Newest first. Expired and revoked keys stay for ${apiKeyKeptMs / DAY} days, or forever if they rented something.`,
  query: apiKeysQuery,
  answers: [pageOf('apiKeys', apiKey, exampleApiKey)],
});

export const createApiKey = operation({
  method: 'post',
  path: '/v1/api-keys',
  name: 'createApiKey',
  tag,
  summary: 'Creates a key',
  description: [
    'The key is only in this answer. Send it as `Authorization: Bearer gpur_…`. It is valid for',
    `${apiKeyMs / DAY} days, or until \`expiresAt\`, at most a year ahead. Scopes do not include each other: \`read\` reads`,
    'everything outside of /v1/billing, `rentals` creates, changes and stops rentals and asks for quotes, `billing`',
    'reads everything under /v1/billing and opens payment pages, `setup` creates, changes and removes webhooks, adds and',
    'removes SSH keys, and lowers the budget, within limits that `key_setup` explains. No key can create keys, or change',
    `cards, automatic top-ups or notices. Without \`allowedCidrs\` it works from anywhere. With \`spendCapCents\`, its rentals can never cost more than that in total, and it sees only its own rentals. With \`ends: own\`, made for agents, it can stop and limit only machines that it opened. A user can have ${maxApiKeys} keys`,
    `active. This needs a sign-in less than ${freshProofMs / MINUTE} minutes old.`,
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
        object({ ...apiKeyFields, key: { ...text, description: 'The key itself, shown once.' } }),
      ),
      examples: [{ ...unused, key }],
      links: leadsTo('/id', ['showApiKey', 'changeApiKey', 'revokeApiKey']),
    },
  ],
  refusals: ['too_many_keys', 'fresh_sign_in_required', 'account_closing'],
});

export const showApiKey = operation({
  method: 'get',
  path: '/v1/api-keys/:id',
  name: 'showApiKey',
  tag,
  summary: 'One key',
  parameters,
  answers: [{ description: 'The key.', schema: apiKey, examples: [exampleApiKey, revoked] }],
  refusals: ['key_not_found'],
});

export const changeApiKey = operation({
  method: 'patch',
  path: '/v1/api-keys/:id',
  name: 'changeApiKey',
  tag,
  summary: 'Changes a key that is not revoked',
  description:
    'Its scopes and expiry can’t change: create another key for that. To allow more addresses or spending, you need a fresh sign-in. A cap below what is spent and reserved becomes that sum, as the answer shows. The first cap is refused while a rental of the key has no limit (`cap_reserved`).',
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
});

export const revokeApiKey = operation({
  method: 'delete',
  path: '/v1/api-keys/:id',
  name: 'revokeApiKey',
  tag,
  summary: 'Revokes a key',
  description:
    'You can’t undo this. Its streams end within 2 seconds. Its machines keep running, or stop with `stopMachines=true`: you are not charged for the time after this request. The webhooks and SSH keys that it made stay, or go with `removeMade=true`. Call it again to do either later.',
  parameters,
  query: revokeQuery,
  answers: [{ description: 'Revoked.', schema: done, examples: [{ ok: true }] }],
  refusals: ['key_not_found'],
});

export const apiKeyOperations: readonly Operation[] = [
  listApiKeys,
  createApiKey,
  showApiKey,
  changeApiKey,
  revokeApiKey,
];
