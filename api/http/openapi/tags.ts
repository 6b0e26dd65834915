/** What the operations are grouped by, and what each group is about. A group that no operation names is not told. */
export const tags = {
  'Sign-in': 'One-time codes by email, sign-in with other providers, and sessions.',
  'SSH keys': 'The public keys that open your machines.',
  'API keys': 'Keys for programs that call the API in your name.',
  Catalog: 'What you can rent now: listings, GPU families, templates.',
  Rentals: 'Renting, changing, metering and stopping machines.',
  Wallet: 'The prepaid balance and its ledger.',
  Payments: 'Top-ups, the saved card and automatic top-ups.',
  Invoices: 'What your balance did not cover.',
  Account: 'Changes to the account.',
  Events: 'What happened, numbered without gaps, in pages or as a stream.',
  Webhooks: 'Events that we send to your own addresses.',
  Notices: 'Which emails you get.',
  Service: 'Health, this description, and plain pages.',
} as const;

export type Tag = keyof typeof tags;
