import { apiKeyEnds, apiKeyScopes } from '../../domain/accounts/api-keys.js';
import {
  cents,
  exampleId,
  idOf,
  instant,
  listOf,
  named,
  object,
  oneOf,
  orNull,
  text,
  type ValueOf,
} from '../http/openapi/json-schema.js';

/** What an API key may do, as the description names it. */
export const apiKeyScope = named('ApiKeyScope', oneOf(apiKeyScopes));

export const apiKeyFields = {
  id: idOf('key'),
  name: text,
  hint: { ...text, description: 'Its last four characters.' },
  scopes: listOf(apiKeyScope),
  ends: {
    ...named('ApiKeyEnds', oneOf(apiKeyEnds)),
    description: 'Which machines it may stop: all of yours, or only those that it opened.',
  },
  allowedCidrs: orNull(listOf(text), 'Addresses that may use it; null: anywhere.'),
  expiresAt: instant,
  spendCapCents: orNull(cents('How much its rentals may cost in total.'), 'Null: it has no cap.'),
  spentCents: cents('How much its rentals have cost by now, with those that are running.'),
  reservedCents: cents('How much its rentals may still cost.'),
  leftCents: orNull(cents('How much a new rental of it may cost.'), 'Null: it has no cap.'),
  createdAt: instant,
  lastUsedAt: orNull(instant, 'To the minute; null: never.'),
  lastUsedAddress: orNull(text, 'From where.'),
  revokedAt: orNull(instant, 'Null until somebody revokes it.'),
  suspendedAt: orNull(
    instant,
    'Set when we lost data and may have lost the key’s revocation. It is suspended from then on, until its owner signs in.',
  ),
};

/** An API key, as the description names it. */
export const apiKey = named('ApiKey', object(apiKeyFields));

export const exampleApiKey: ValueOf<typeof apiKey> = {
  id: exampleId('key'),
  name: 'training runs',
  hint: 'a1Zx',
  scopes: ['read', 'rentals'],
  ends: 'all',
  allowedCidrs: ['192.0.2.0/24', '2001:db8::/32'],
  expiresAt: '2027-01-30T09:30:00.000Z',
  spendCapCents: null,
  spentCents: 0,
  reservedCents: 0,
  leftCents: null,
  createdAt: '2026-11-01T09:30:00.000Z',
  lastUsedAt: '2026-11-01T10:12:31.250Z',
  lastUsedAddress: '192.0.2.7',
  revokedAt: null,
  suspendedAt: null,
};
