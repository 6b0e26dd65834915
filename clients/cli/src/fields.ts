import { usd } from './output/money.js';

/** What the fields of a request are called on the command line. */
const names: Readonly<Record<string, string>> = {
  amountCents: 'The amount',
  familyId: 'The family',
  gpuCount: '--gpus',
  region: '--region',
  templateId: '--template',
  name: 'The name',
  email: 'The e-mail address',
  autoStopAfterHours: '--hours',
  autoStopAt: 'The time',
  maxSpendCents: '--max-spend',
  maxPricePerHourCents: '--max-price',
  labels: '--label',
  sshKeyIds: '--ssh-key',
  publicKey: 'The public key',
  groupBy: '--by',
  from: '--from',
  to: '--to',
  types: '--types',
  pageSize: '--limit',
  limit: '--limit',
  thresholdCents: '--below',
  topupAmountCents: '--amount',
  dailyCapCents: '--daily-cap',
  spendCapCents: '--spend-cap',
  allowedCidrs: '--from',
  expiresAt: '--days',
  scopes: '--scopes',
  minVramGb: '--min-vram',
  label: '--label',
};

/** One fault of a request, as the service tells it. */
interface Fault {
  readonly field: string;
  readonly message: string;
}

/** Tells faults of a request in the words of the command line: its options, and dollars instead of cents. */
export function faultWords(faults: readonly Fault[]): string {
  return faults.map(wordsOf).join('\n');
}

function wordsOf({ field, message }: Fault): string {
  const [first = field] = field.split(/[.[]/);
  const words = message.replaceAll(field, names[first] ?? field);
  const told = first.endsWith('Cents') ? words.replace(/\b\d+\b/g, (cents) => usd(Number(cents))) : words;
  return /[.?!]$/.test(told) ? told : `${told}.`;
}
