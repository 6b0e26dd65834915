import type { ApiKeyScope } from '@gpu-rental/client';
import { plural, texts } from './texts.js';

/** The keys of programs. */
export const apiKeyTexts = texts({
  title: 'API keys',
  lead: 'Programs, scripts and agents use keys to call the API. Scopes say what a key may do, and a cap what it may spend.',
  create: 'Create a key',
  live: 'Active keys',
  ended: 'Expired and revoked keys',
  count: (count: number) => `${count} ${plural(count, { one: 'key', other: 'keys' })}`,
  empty: 'No API keys yet',
  emptyText:
    'Create one for the gpu command, your own programs or an agent. Give it a cap, and it can’t spend more than that.',
  states: { live: 'Active', suspended: 'Suspended', expired: 'Expired', revoked: 'Revoked' },
  suspendedText:
    'We lost some data and can’t tell whether you revoked this key in the meantime. Sign out and in again to reactivate it, or revoke it.',
  /** In the order in which they are offered. One that a later release brings doesn’t compile before it stands here. */
  scopes: {
    read: 'Read',
    rentals: 'Rent',
    billing: 'Billing',
    setup: 'Setup',
  } satisfies Readonly<Record<ApiKeyScope, string>>,
  scopeTexts: {
    read: 'Sees machines, offers, events, keys and webhooks, but nothing that Billing covers.',
    rentals: 'Gets quotes, and rents, changes and stops machines. It spends money.',
    billing: 'Sees the balance, the ledger and invoices, and opens payment pages. It can’t charge a card.',
    setup:
      'For CI: manages webhooks, adds SSH keys that open only machines that name them, and lowers the budget. We email you what it does, once an hour at most.',
  },
  hint: (hint: string) => `gpur_…${hint}`,
  expires: 'Expires',
  expired: 'Expired',
  revoked: 'Revoked',
  made: 'Created',
  lastUsed: 'Last used',
  never: 'Never',
  from: (address: string) => `from ${address}`,
  addresses: 'Addresses',
  anywhere: 'Anywhere',
  moreAddresses: (count: number) => `and ${count} more`,
  spent: 'Spent',
  noCap: 'no cap',
  spendBar: (spent: string, reserved: string, cap: string) =>
    `${spent} spent and ${reserved} reserved of ${cap}`,
  spentOf: (spent: string, cap: string) => `${spent} of ${cap} spent`,
  reserved: (amount: string) => `${amount} reserved`,
  left: (amount: string) => `${amount} left`,
  change: 'Change',
  changeNamed: (name: string) => `Change the key ${name}`,
  revoke: 'Revoke',
  revokeNamed: (name: string) => `Revoke the key ${name}`,
  name: 'Name',
  nameHint: 'Which program uses it, and where?',
  scopesLabel: 'What it may do',
  scopesMissing: 'Choose at least one.',
  ownMachines: 'Own machines only',
  ownMachinesLabel: 'Stop and limit only its own machines',
  ownMachinesHint: 'For agents: it can’t end machines that you or your other keys rented.',
  expiry: 'Expires after',
  expiryDays: (days: number) => (days === 365 ? 'A year' : `${days} days`),
  expiryAt: (day: string) => `On ${day}. You can’t change this later: create a new key before then.`,
  cap: 'Spend cap',
  capHint:
    'How much its machines may cost in total, in dollars. A key with a cap sees only its own machines. Leave empty for no cap.',
  capFault: 'Enter an amount such as 25 or 25.50, at least one cent.',
  cidrs: 'Allowed addresses',
  cidrsHint: 'One address or range per line, such as 203.0.113.7 or 192.0.2.0/24. Leave empty for anywhere.',
  cidrFault: (line: number, fault: string) => `Line ${line}: ${fault}`,
  tooMany: (max: number) =>
    `You have ${max} keys, the most an account can have. Revoke one that you no longer use.`,
  createdTitle: 'Copy the key now',
  createdText: 'We show it only once and keep no copy. Whoever has it can do what its scopes allow.',
  key: 'API key',
  copyKey: 'Copy the key',
  notSavedText: 'Copy it first. Without it the key is useless, and you can only revoke it.',
  example: 'Try it',
  copyExample: 'Copy the lines',
  exampleHint: 'The first line waits for you to paste the key, which keeps it out of your shell history.',
  changeTitle: (name: string) => `Change ${name}`,
  changeText:
    'To raise or remove the cap, or to allow more addresses, we email you a code. Scopes and expiry can’t change.',
  save: 'Save',
  capRaised: (cap: string) => `The cap is ${cap}`,
  capRaisedText: 'The key has already spent or reserved that much, so its cap can’t be lower.',
  capReserved: 'These machines of the key have no spending limit. Set one for each, or stop them:',
  revokeTitle: (name: string) => `Revoke ${name}?`,
  revokeText: 'Programs that use it lose access at once. You can’t undo this.',
  stopMachines: 'Stop its machines too',
  stopMachinesHint:
    'Otherwise they keep running and cost money until you stop them, they reach their limits, or your balance runs out.',
  removeMade: 'Remove what it set up too',
  removeMadeHint: 'The webhooks and SSH keys that it made. Machines that are running keep their SSH keys.',
  reservedNow: (amount: string) => `Its machines may still cost ${amount}.`,
});

export const scopes = Object.keys(apiKeyTexts.scopes) as readonly ApiKeyScope[];
