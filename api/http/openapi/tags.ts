/** What the operations are grouped by, and what each group is about. A group that no operation names is not told. */
export const tags = {
  'Sign-in': 'One-time codes by mail, sign-in elsewhere, and the session.',
  'SSH keys': 'The public keys that machines let in.',
  'API keys': 'What programs call the API with, in your name.',
  Catalog: 'What can be rented now: listings, GPU families, templates.',
  Rentals: 'Machines: asked for, shown, metered, ended.',
  Wallet: 'The prepaid balance, and each entry of its ledger.',
  Payments: 'Top-ups, the saved card, auto-topup.',
  Invoices: 'What the wallet did not cover.',
  Account: 'What was done to the account.',
  Events: 'What happened, numbered without a gap: read in pages, or as a stream.',
  Webhooks: 'Events that are sent to an address of yours.',
  Notices: 'Which mails are sent.',
  Service: 'Health, this description, and plain pages.',
} as const;

export type Tag = keyof typeof tags;
