import { apiKeyEnds, apiKeyScopes } from '../../domain/accounts/api-keys.js';
import { accountLimits } from '../../domain/accounts/limits.js';
import { rentalLimits } from '../../domain/rentals/limits.js';
import type { ApiKeyId, RentalId } from '../../domain/ids.js';
import { Refusal } from '../../domain/refusal.js';
import type { ApiState } from '../context.js';
import {
  instantField,
  joi,
  pageFields,
  fields,
  needed,
  orElse,
  nullable,
  wordOf,
  wholeFrom,
  manyOf,
  readAs,
  type Read,
} from '../http/fields.js';
import { fieldRefusal } from '../http/validation.js';
import { readCidr } from './cidrs.js';

const { maxApiKeys: maxKeys, apiKeyMaxCidrs, apiKeyMaxMs } = accountLimits;

const cidrField = readAs<string>(joi.string().max(64), (text, helpers) => {
  const read = readCidr(text);
  return 'cidr' in read ? read.cidr : helpers.message({ custom: `{{#label}} ${read.fault}` });
}).meta({
  jsonSchema: {
    pattern: '^[0-9A-Fa-f:.]+(/[0-9]{1,3})?$',
    description: 'An IPv4 or IPv6 address, or a range that begins with its first one.',
    examples: ['192.0.2.0/24', '2001:db8::/32', '203.0.113.7'],
  },
});

const changeable = {
  name: joi.text().min(1).maxChars(64),
  allowedCidrs: nullable(manyOf(cidrField).min(1).max(apiKeyMaxCidrs)),
  spendCapCents: nullable(wholeFrom(1, rentalLimits.maxLimitCents)),
};

export const apiKeySchema = fields({
  name: needed(changeable.name),
  scopes: needed(manyOf(wordOf(apiKeyScopes)).unique().min(1).max(apiKeyScopes.length)),
  ends: wordOf(apiKeyEnds),
  expiresAt: instantField,
  allowedCidrs: changeable.allowedCidrs,
  spendCapCents: changeable.spendCapCents,
});

export const apiKeyChangeSchema = fields(changeable).min(1);

export type ApiKeyRequest = Read<typeof apiKeySchema>;

/** The query of DELETE /v1/api-keys/:id. */
export const revokeQuery = fields({
  stopMachines: orElse(joi.boolean().description('Whether to stop its machines, too.'), false),
  removeMade: orElse(
    joi.boolean().description('Whether to remove the webhooks and SSH keys that it made, too.'),
    false,
  ),
});

/** Tells whether another cap lets the rentals of a key cost more. Cents; null: no cap. */
export function isRaised(before: number | null, after: number | null): boolean {
  return before !== null && (after === null || after > before);
}

export const apiKeysQuery = fields(pageFields);

/** @throws Refusal validation_failed for an expiry that is over, or more than a year away */
export function refuseExpiry(expiresAt: Date | undefined, now: Date): void {
  if (expiresAt === undefined) return;
  if (expiresAt <= now) throw fieldRefusal('expiresAt', 'expiresAt must be in the future');
  if (expiresAt.getTime() > now.getTime() + apiKeyMaxMs) {
    throw fieldRefusal('expiresAt', 'expiresAt must be within a year: create another key then');
  }
}

/** The refusal of a key beyond the number that a user may have. */
export function tooManyApiKeys(): Refusal {
  return new Refusal(
    'too_many_keys',
    `You have ${maxKeys} API keys, the most you can have. Revoke one that you no longer use: DELETE /v1/api-keys/:id.`,
    { maxKeys },
  );
}

/** The refusal of a key that is none of the user's (decision 5, "Foreign ids"). */
export function noSuchApiKey(): Refusal {
  return new Refusal('key_not_found', 'You have no such API key: GET /v1/api-keys lists yours.');
}

/**
 * Refuses to a key that ends only what it opened (decision 133, "Keys that end their own") what ends another machine, or
 * moves its limits: a lower one ends it too.
 * @throws Refusal key_ends_own
 */
export function refuseToEnd(
  { state: { caller } }: { readonly state: ApiState },
  rental: { readonly id: RentalId; readonly api_key_id: ApiKeyId | null },
): void {
  if (caller?.kind !== 'key' || caller.ends === 'all' || rental.api_key_id === caller.keyId) return;
  throw new Refusal(
    'key_ends_own',
    'This API key can stop and limit only machines that it opened, and it did not open this one. Sign in, or use a key that can stop all machines.',
    { rentalId: rental.id },
  );
}
