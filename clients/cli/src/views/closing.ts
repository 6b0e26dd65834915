import {
  brandName,
  closingWaitsAtMostDays,
  closingWaitWords,
  wordOf,
  type AccountClosing,
  type AccountClosingState,
  type CardReturn,
} from '@gpu-rental/client';
import { usd } from '../output/money.js';
import { counted } from '../output/text.js';
import { localTime } from '../output/time.js';

type Pair = readonly [name: string, text: string | null];

/** What closing an account does, or how far it is: names and words, in the order of the way. */
export function closingFacts(closing: AccountClosing): Pair[] {
  const { state, requestedAt, waitsFor, machines, returns, lapsesCents } = closing;
  const backTo = returns.length === 0 ? [state === null ? 'nothing' : null] : returns.map(returnWords);
  return [
    ['State', state === null ? null : stateWords[state]],
    ['Asked for', requestedAt === null ? null : localTime(requestedAt)],
    [
      'Waiting for',
      waitsFor.length === 0 ? null : waitsFor.map((wait) => wordOf(closingWaitWords, wait)).join(', '),
    ],
    ['Machines', machines === 0 ? null : machineWords(machines, state)],
    ['Unsettled', unsettledWords(closing)],
    ...backTo.map((text, index): Pair => [index === 0 ? 'Back to you' : 'and', text]),
    ['Lapses', lapsesCents === 0 ? null : `${usd(lapsesCents)} ${lapseWords(state)}`],
  ];
}

function machineWords(machines: number, state: AccountClosing['state']): string {
  if (state !== null) return `${machines} not gone yet`;
  return machines === 1
    ? '1 stops at once, and its disk is lost'
    : `${machines} stop at once, and their disks are lost`;
}

function lapseWords(state: AccountClosing['state']): string {
  return state === null ? 'that we gave you' : 'that we gave you or that you owed';
}

function unsettledWords({ openInvoices, openDisputes }: AccountClosing): string | null {
  const open = [
    ...(openInvoices === 0 ? [] : [counted(openInvoices, 'open invoice')]),
    ...(openDisputes === 0 ? [] : [counted(openDisputes, 'open dispute')]),
  ];
  if (open.length === 0) return null;
  const keep = openInvoices + openDisputes === 1 ? 'keeps' : 'keep';
  return `${open.join(' and ')} ${keep} your account open for up to ${closingWaitsAtMostDays} days`;
}

function returnWords({ amountCents, cardBrand, cardLast4, status }: CardReturn): string {
  const card = `${brandName(cardBrand ?? 'card')}${cardLast4 === null ? '' : ` ending in ${cardLast4}`}`;
  return `${usd(amountCents)} to ${card}${returnStates[status]}`;
}

const returnStates: Readonly<Record<CardReturn['status'], string>> = {
  planned: '',
  sent: ', sent',
  refused: ', which its bank refused',
};

/** What follows, in sentences. */
export function closingWords({ state }: AccountClosing): string {
  return state === null
    ? 'Amounts are as of now. Your API keys stop working, and you can’t rent or add money. Then we erase your personal data: address, names, keys, cards and emails. Accounting records that the law requires stay under your account’s number. You can’t undo this.'
    : 'You can’t undo this. Until your personal data is erased, you can see here how far it is.';
}

const stateWords: Readonly<Record<AccountClosingState, string>> = {
  stopping: 'stopping whatever still runs',
  settling: 'waiting for open invoices, disputes and payments',
  returning: 'giving your money back',
  erasing: 'erasing your personal data',
  kept: 'personal data erased, checking for late records',
  closed: 'closed',
};
