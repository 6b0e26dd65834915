import { setImmediate } from 'node:timers/promises';
import { Readable } from 'node:stream';
import type { KeptMailRow } from '../../adapters/postgres/rows/tables.js';
import type { ArchivedFile } from '../../adapters/zip.js';
import { DAY, MINUTE } from '../../domain/durations.js';
import { telemetryLimits } from '../../domain/machines/telemetry.js';
import type { TopupId } from '../../domain/ids.js';
import type { Receipt } from '../../domain/payments/receipt.js';
import { Refusal, type RefusalCode } from '../../domain/refusal.js';
import { requestLimits } from '../../domain/requests/limits.js';
import { listApiKeys } from '../api-keys/describe.js';
import { listEvents } from '../events/describe.js';
import type { Ask } from '../http/ask.js';
import type { Operation } from '../http/openapi/operation.js';
import { listInvoices } from '../invoices/describe.js';
import { showNotices } from '../notices/describe.js';
import type { Rental } from '../rentals/describe.js';
import { listRentals } from '../rentals/describe-list.js';
import { showTelemetry } from '../rentals/describe-telemetry.js';
import { showBudget } from '../spending/describe.js';
import { listTopups, showAutoTopup, showCard } from '../topups/describe.js';
import { showBillingDetails } from '../topups/describe-receipts.js';
import { downloadLedger, showBalance } from '../wallet/describe.js';
import { showStanding } from '../wallet/describe-standing.js';
import { listWebhookDeliveries, listWebhooks } from '../webhooks/describe.js';
import { listAuditEvents } from './describe-audit.js';
import { showClosing } from './describe-closing.js';
import { listPasskeys } from './describe-passkeys.js';
import { listSessions } from './describe-sessions.js';
import { showMe } from './describe-sign-in.js';
import { listSshKeys } from './describe-ssh-keys.js';
import { readmeOf } from './export-readme.js';

/** Where an export comes from: the API’s own routes, and what no route tells. */
export interface ExportSource {
  readonly ask: Ask;
  /** A page of the mails to the user, newest first. */
  readonly mails: (before: number | undefined, limit: number) => Promise<readonly KeptMailRow[]>;
  /** The receipt of a top-up; undefined where it was not paid. */
  readonly receipt: (topupId: TopupId) => Promise<Receipt | undefined>;
  /** The accounts elsewhere that sign the user in. */
  readonly identities: () => Promise<readonly LinkedAccount[]>;
  /** Is called when somebody begins to read, before anything is told. */
  readonly begun?: () => Promise<void>;
  /** Is called when everything is read: the archive ends after it. */
  readonly ended?: () => Promise<void>;
}

/** An account at an identity provider. */
export interface LinkedAccount {
  readonly issuer: string;
  readonly subject: string;
  readonly linked_at: Date;
}

type Texts = AsyncIterable<string> | Iterable<string>;
type Pages = (source: ExportSource) => AsyncIterable<readonly unknown[]>;

/** A file of an export. */
export interface ExportFile {
  readonly name: string;
  /** What it holds, for README.txt. */
  readonly what: string;
  readonly write: (source: ExportSource) => Texts;
}

const { pageSizeMax } = requestLimits;
const pageSize = String(pageSizeMax);

function one(name: string, operation: Operation, what: string): ExportFile {
  return {
    ...{ name: `${name}.json`, what },
    async *write({ ask }) {
      yield `${JSON.stringify(await ask(operation), null, 2)}\n`;
    },
  };
}

/** JSON lines. Others are answered between two pages. */
function many(name: string, pages: Pages, what: string): ExportFile {
  return {
    ...{ name: `${name}.jsonl`, what },
    async *write(source) {
      for await (const page of pages(source)) {
        if (page.length > 0) yield page.map((each) => `${JSON.stringify(each)}\n`).join('');
        await setImmediate();
      }
    },
  };
}

/** The items of a list that is read page by page, or has one. */
function listed<Answer extends object>(
  operation: Operation<Answer>,
  items: keyof Answer & string,
  params: Readonly<Record<string, string>> = {},
): Pages {
  return async function* ({ ask }) {
    let cursor: string | null | undefined;
    do {
      const query = { pageSize, ...(cursor && { cursor }) };
      const answer = (await ask(operation, { params, query })) as Readonly<Record<string, unknown>>;
      yield answer[items] as readonly unknown[];
      cursor = answer['nextCursor'] as string | null | undefined;
    } while (cursor);
  };
}

/** A list whose oldest are forgotten: where that comes to what a page ended with, nothing is left that is older. */
function whileKept(pages: Pages): Pages {
  return async function* (source) {
    try {
      yield* pages(source);
    } catch (error) {
      if (!(error instanceof Refusal && goneCodes.has(error.code))) throw error;
    }
  };
}

/** How the API refuses a place in a list that it has no more, and a webhook that was removed. */
const goneCodes: ReadonlySet<RefusalCode> = new Set(['validation_failed', 'webhook_not_found']);

/** What is read by the last one of the page before, until a page is not full. */
async function* byLast<T>(
  read: (last: T | undefined) => Promise<readonly T[]>,
): AsyncGenerator<readonly T[]> {
  let last: T | undefined;
  do {
    const page = await read(last);
    yield page;
    last = page.length < pageSizeMax ? undefined : page.at(-1);
  } while (last !== undefined);
}

const invoices: Pages = ({ ask }) =>
  byLast(async (last: { readonly id: string } | undefined) => {
    const query = { limit: pageSize, ...(last && { before: last.id }) };
    return (await ask(listInvoices, { query })).data;
  });

/** Newest first: whoever reads so misses nothing that is forgotten meanwhile but what is older still. */
const events: Pages = ({ ask }) =>
  byLast(async (last: { readonly seq: number } | undefined) => {
    const before = String(last?.seq ?? Number.MAX_SAFE_INTEGER);
    return (await ask(listEvents, { query: { pageSize, before } })).events;
  });

const mails: Pages = async function* (source) {
  for await (const page of byLast((last: KeptMailRow | undefined) => source.mails(last?.id, pageSizeMax))) {
    yield page.map(({ subject, body, created_at: createdAt, sent_at: sentAt }) => ({
      ...{ subject, text: body, createdAt, sentAt },
    }));
  }
};

const identities: Pages = async function* (source) {
  const found = await source.identities();
  yield found.map(({ issuer, subject, linked_at: linkedAt }) => ({ issuer, subject, linkedAt }));
};

const receipts: Pages = async function* (source) {
  for await (const page of listed(listTopups, 'topups')(source)) {
    const found: Receipt[] = [];
    for (const { id } of page as readonly { readonly id: TopupId }[]) {
      const receipt = await source.receipt(id);
      if (receipt) found.push(receipt);
    }
    yield found;
  }
};

const deliveries: Pages = async function* (source) {
  for (const { id } of (await source.ask(listWebhooks)).webhooks) {
    for await (const page of whileKept(listed(listWebhookDeliveries, 'deliveries', { id }))(source)) {
      yield page.map((delivery) => ({ webhookId: id, ...(delivery as object) }));
    }
  }
};

const machineUse: Pages = async function* (source) {
  for await (const page of listed(listRentals, 'rentals')(source)) {
    for (const rental of page as readonly Rental[]) yield* useOf(source, rental);
  }
};

const { keptDays, pointsMax } = telemetryLimits;

/** The use of one machine, a day at a time from a whole minute on: so each point stands for a minute. */
async function* useOf({ ask }: ExportSource, { id, runningAt, stoppedAt }: Rental) {
  const forgottenAt = Date.now() - keptDays * DAY;
  const isForgotten = stoppedAt !== null && Date.parse(stoppedAt) < forgottenAt - DAY;
  if (runningAt === null || isForgotten) return;
  const firstMs = Math.max(Date.parse(runningAt), forgottenAt);
  let at = Math.floor(firstMs / MINUTE) * MINUTE;
  let toldUpTo: string;
  do {
    const query = { from: iso(at), to: iso(at + DAY), points: String(pointsMax) };
    const use = await ask(showTelemetry, { params: { id }, query });
    if (use.source !== null) yield [use];
    toldUpTo = use.to;
    at += DAY;
  } while (Date.parse(toldUpTo) === at);
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

const ledger: ExportFile = {
  name: 'ledger.csv',
  what: 'Each change of your wallet, oldest first: amounts, and the balance after each. The last balance is yours.',
  async *write({ ask }) {
    yield* (await ask(downloadLedger)) as unknown as AsyncIterable<string>;
  },
};

/** Everything that the service holds about a user, file by file (decision 184, "One archive"). */
export const exportFiles: readonly ExportFile[] = [
  one('account', showMe, 'Your account: its number, your address, since when.'),
  one('closing', showClosing, 'What closing your account does, or how far it is.'),
  many('sessions', listed(listSessions, 'sessions'), 'Where you are signed in.'),
  many('sign-in-accounts', identities, 'Your accounts elsewhere that sign you in.'),
  many('passkeys', listed(listPasskeys, 'passkeys'), 'Your passkeys.'),
  many(
    'failed-sign-ins',
    whileKept(listed(listAuditEvents, 'failedSignIns')),
    'Wrong sign-in codes, by hour.',
  ),
  many(
    'audit',
    whileKept(listed(listAuditEvents, 'events')),
    'Who changed what, by which key and from where.',
  ),
  many('ssh-keys', listed(listSshKeys, 'sshKeys'), 'Your public SSH keys.'),
  many('api-keys', listed(listApiKeys, 'apiKeys'), 'Your API keys, without the keys themselves.'),
  one('notices', showNotices, 'Which emails you get.'),
  many('emails', mails, 'The emails that we sent you; a text with a code was not kept.'),
  one('balance', showBalance, 'Your wallet.'),
  one('standing', showStanding, 'Blocks, and payments that were lately reversed.'),
  ledger,
  many('topups', listed(listTopups, 'topups'), 'What you paid in, or tried to, newest first.'),
  many('receipts', receipts, 'Your receipts: whom each is made out to, the card, and who sold.'),
  many('invoices', invoices, 'Your invoices and their lines, newest first.'),
  one('billing-details', showBillingDetails, 'Whom your receipts are made out to.'),
  one('card', showCard, 'Your saved card.'),
  one('auto-topup', showAutoTopup, 'When your wallet tops itself up.'),
  one('budget', showBudget, 'Your budget, and this month’s spending.'),
  many('rentals', listed(listRentals, 'rentals'), 'Your machines, with names, labels, notes and software.'),
  many('machine-use', machineUse, `How busy your machines were, by minute and day, for ${keptDays} days.`),
  many('events', events, 'What happened to your account and machines, newest first.'),
  many('webhooks', listed(listWebhooks, 'webhooks'), 'Where we send your events, without the secrets.'),
  many('webhook-deliveries', deliveries, 'What was sent there.'),
];

/** The files of an archive. @param at when it is begun */
export function filesOf(source: ExportSource, at: Date): ArchivedFile[] {
  const readme = { name: 'README.txt', open: () => Readable.from(opening(source, at)) };
  const last = exportFiles.at(-1);
  const open = (file: ExportFile) => (): Readable => Readable.from(written(file, source, file === last));
  return [readme, ...exportFiles.map((file) => ({ name: file.name, open: open(file) }))];
}

async function* opening(source: ExportSource, at: Date): AsyncGenerator<string> {
  await source.begun?.();
  yield readmeOf(exportFiles, at);
}

async function* written(
  { write }: ExportFile,
  source: ExportSource,
  isLast: boolean,
): AsyncGenerator<string> {
  yield* write(source);
  if (isLast) await source.ended?.();
}
