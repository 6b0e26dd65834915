import { defineSearchAttributeKey } from '@temporalio/common';

/** What operators filter workflows by in the Temporal UI. The stack registers them at start-up. No personal data. */
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
