import { defineSearchAttributeKey } from '@temporalio/common';

/**
 * The attributes by which operators filter workflows in the Temporal UI. The stack registers them at start-up. They
 * hold no personal data.
 */
export const userIdAttribute = defineSearchAttributeKey('UserId', 'KEYWORD');
export const entityStatusAttribute = defineSearchAttributeKey('EntityStatus', 'KEYWORD');
export const providerAttribute = defineSearchAttributeKey('Provider', 'KEYWORD');
export const pricePerHourAttribute = defineSearchAttributeKey('PricePerHourCents', 'INT');
export const amountAttribute = defineSearchAttributeKey('AmountCents', 'INT');

export const searchAttributes = [
  userIdAttribute,
  entityStatusAttribute,
  providerAttribute,
  pricePerHourAttribute,
  amountAttribute,
];
