import { usd } from './output/money.js';

/** What the fields of a request are called on the command line. */
const names: Readonly<Record<string, string>> = {
  amountCents: 'The amount',
  familyId: 'The family',
  gpuCount: '--gpus',
  region: '--region',
  templateId: '--template',
  image: '--image',
  entrypoint: '--entrypoint',
  args: '--arg',
  env: '--env',
  startScript: '--script',
  ports: '--port',
  diskGb: '--disk',
  registryAuth: '--registry-user',
  name: 'The name',
  email: 'The email address',
  autoStopAfterHours: '--hours',
  autoStopAt: 'The time',
  stopWhenIdleMinutes: '--stop-when-idle',
  idleIgnores: '--ignore-sessions',
  telemetry: '--telemetry',
  until: '--until',
  maxSpendCents: '--max-spend',
  maxPricePerHourCents: '--max-price',
  labels: '--label',
  sshKeyIds: '--ssh-key',
  sshPublicKeys: '--ssh-key',
  quoteId: '--quote',
  address: '--address',
  taxId: '--tax-id',
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
  monthlyCents: 'The budget',
  hard: '--hard',
  allowedCidrs: '--from',
  expiresAt: '--days',
  scopes: '--scopes',
  minVramGb: '--min-vram',
  minVcpus: '--min-vcpus',
  minMemoryGb: '--min-memory',
  minDiskGb: '--min-disk',
  label: '--label',
  url: 'The address',
  description: '--description',
  afterSeq: '--after',
};

/** Puts the options into a sentence of the service that names fields of its requests: "topupAmountCents above 500". */
export function inOptions(text: string): string {
  return withoutFieldNames(
    text.replace(
      /\b([a-z]+[A-Za-z]*Cents above) (\d+)/g,
      (_, what: string, cents: string) => `${what} ${usd(Number(cents))}`,
    ),
  );
}

/** Where a sentence names its own field. One that is a common word too, such as "to", counts at the beginning only. */
function ownName(field: string): RegExp {
  const isCommon = /^[a-z]+$/.test(field);
  return new RegExp(
    `${isCommon ? '^' : String.raw`\b`}${field.replace(/\W/g, '')}${String.raw`(\[\d+\]|\b)`}`,
    'g',
  );
}

function withoutFieldNames(text: string): string {
  return text.replace(/\b[a-z]+(?:[A-Z][a-z]*)+\b/g, (field, at: number) => {
    const name = Object.hasOwn(names, field) ? names[field] : undefined;
    return (at === 0 ? name : name?.replace(/^The /, 'the ')) ?? field;
  });
}

/** One fault of a request, as the service tells it. */
interface Fault {
  readonly field: string;
  readonly message: string;
}

/** What a provider can't do of a request, as the service tells it. */
interface Misfit extends Fault {
  readonly providerCode: string;
}

/** Tells faults of a request in the words of the command line: its options, and dollars instead of cents. */
export function faultWords(faults: readonly Fault[]): string {
  return faults.map(wordsOf).join('\n');
}

/** Amounts in dollars, and minutes as such. */
function withUnits(field: string, text: string): string {
  if (field.endsWith('Cents')) return text.replace(/\b\d+\b/g, (cents) => usd(Number(cents)));
  return field.endsWith('Minutes') ? text.replace(/\b\d+\b/g, '$& minutes') : text;
}

/** What no provider can do of a request, each option once. */
export function misfitWords(misfits: readonly Misfit[]): string {
  const told = misfits.map(
    ({ field, providerCode, message }) =>
      `${names[field] ?? field}: ${providerCode} ${withoutFieldNames(message)}.`,
  );
  return ['No provider with such a machine can do all of this:', ...new Set(told)].join('\n');
}

function wordsOf({ field, message }: Fault): string {
  const [first = field] = field.split(/[.[]/);
  const name = names[first] ?? field;
  const own = ownName(first);
  // Some sentences leave out what they are about: "must be at least 5".
  const named = message.search(own) < 0 && /^[a-z]/.test(message) ? `${name} ${message}` : message;
  // A part of it is named after it: "--port: port can't be 22".
  const parted = named.replace(own, name).replace(new RegExp(String.raw`(?<=${name})\.(?=\w)`), ': ');
  const told = withUnits(first, withoutFieldNames(parted));
  return /[.?!]$/.test(told) ? told : `${told}.`;
}
