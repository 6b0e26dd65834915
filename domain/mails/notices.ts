import { formatUsd } from '../money.js';
import type { ToldKind } from '../notices/kinds.js';
import { noticeLimits } from '../notices/limits.js';
import type { EndedMachine, EndKind, NoticeFacts } from '../notices/notices.js';
import { answerToSupport, messageOf, type Message } from './message.js';
import { fact, quietLink, row, type Part } from './parts.js';

/** What one mail tells: all that happened of one kind at about the same time, the oldest first. */
export type Told = {
  readonly [K in ToldKind]: { readonly kind: K; readonly all: readonly NoticeFacts[K][] };
}[ToldKind];

/**
 * Tells a user what they did not ask for (decision 103, "Notices by mail").
 * @param unsubscribeUrl switches such mails off; null for what is always sent
 */
export function noticeMail(told: Told, unsubscribeUrl: string | null): Message {
  const { subject, parts } = wordsOf(told);
  const why =
    'You get this mail because something happened that you did not ask for yourself, and it can be switched off.';
  const footer = unsubscribeUrl === null ? [] : ['', why, quietLink('Switch such mails off', unsubscribeUrl)];
  return messageOf(subject, [...parts, ...footer]);
}

interface Words {
  readonly subject: string;
  readonly parts: readonly Part[];
}

function wordsOf(told: Told): Words {
  switch (told.kind) {
    case 'ssh_key_added':
      return keysAdded(told.all);
    case 'api_key_created':
      return apiKeysCreated(told.all);
    case 'card_saved':
      return cardsSaved(told.all);
    case 'budget_reached':
      return budgetReached(told.all);
    case 'auto_topup_off':
      return autoTopupOff(told.all);
    default:
      return machinesEnded(told.kind, told.all);
  }
}

/** How a mail says what became of machines: what happened, why, and what to do now. */
const ends: Readonly<Record<EndKind, { did: string; why: string; whyMany?: string; next: string }>> = {
  rental_auto_stop: {
    did: 'stopped at the time that you set',
    why: 'The time limit of the rental was reached.',
    next: 'Rent another one with a later limit, or without one, to go on.',
  },
  rental_spend_limit: {
    did: 'stopped at your spend limit',
    why: 'What the rental may cost at most was reached.',
    next: 'Rent another one with a higher limit, or without one, to go on.',
  },
  rental_balance_exhausted: {
    did: 'stopped: your balance is used up',
    why: 'Nothing was left in the wallet to pay for more time.',
    next: 'Top up the wallet before you rent again. Automatic top-ups keep machines running.',
  },
  rental_operator_stop: {
    did: 'stopped by our operators',
    why: 'You pay for the time until then, and nothing for a machine that was not ready yet.',
    next: answerToSupport,
  },
  rental_lost: {
    did: 'lost',
    why: 'The provider does not have it any more. You pay for the time in which it was seen alive, at most.',
    whyMany:
      'Their provider does not have them any more. You pay for the time in which they were seen alive, at most.',
    next: 'What was on the disk is gone. You can rent again now.',
  },
  rental_failed: {
    did: 'not provided',
    why: 'It never became ready. Nothing is charged for it.',
    whyMany: 'They never became ready. Nothing is charged for them.',
    next: 'You can try again, maybe in another region.',
  },
};

function machinesEnded(kind: EndKind, all: readonly EndedMachine[]): Words {
  const { did, why, whyMany = why, next } = ends[kind];
  const [only, ...others] = all;
  const isOne = only !== undefined && others.length === 0;
  const subject = isOne ? `A machine of yours was ${did}` : `${all.length} machines of yours were ${did}`;
  const shown = isOne ? machineFacts(only) : listed(all, machineRow);
  return { subject, parts: [isOne ? why : whyMany, '', ...shown, '', next] };
}

function machineFacts(machine: EndedMachine): Part[] {
  const { rentalId, name, error } = machine;
  return [
    fact('Rental', rentalId),
    ...(name === null ? [] : [fact('Name', name)]),
    fact('Machine', hardwareOf(machine)),
    fact('Charged in all', formatUsd(machine.chargedCents)),
    ...(error === null ? [] : [fact('What happened', error)]),
  ];
}

function machineRow(machine: EndedMachine): Part {
  const name = machine.name === null ? [] : [machine.name];
  return row(machine.rentalId, hardwareOf(machine), formatUsd(machine.chargedCents), ...name);
}

function hardwareOf({ gpuCount, model }: EndedMachine): string {
  return `${gpuCount} x ${model}`;
}

function keysAdded(all: readonly NoticeFacts['ssh_key_added'][]): Words {
  const isOne = all.length === 1;
  return {
    subject: isOne
      ? 'An SSH key was added to your account'
      : `${all.length} SSH keys were added to your account`,
    parts: [
      'A machine that names one of these keys when it is rented can be entered with it.',
      '',
      ...listed(all, ({ name, fingerprint }) => fact(name, fingerprint)),
      '',
      'If it was not you, remove it, sign out, and answer to support: somebody else is signed in to your account.',
    ],
  };
}

function apiKeysCreated(all: readonly NoticeFacts['api_key_created'][]): Words {
  const isOne = all.length === 1;
  return {
    subject: isOne
      ? 'An API key was made in your account'
      : `${all.length} API keys were made in your account`,
    parts: [
      'A program that has one can call the API in your name, as far as its scopes go.',
      '',
      ...listed(all, ({ name, scopes, hint }) => fact(name, `${scopes.join(', ')}; it ends with ${hint}`)),
      '',
      'If it was not you, revoke it, end your other sessions, and answer to support: somebody else is signed in to your account.',
    ],
  };
}

function cardsSaved(all: readonly NoticeFacts['card_saved'][]): Words {
  return {
    subject: 'A card was saved in your account',
    parts: [
      'It is charged when you top up, and by automatic top-ups if you switch them on.',
      '',
      ...listed(all, ({ brand, last4 }) => fact('Card', `${brand} ending in ${last4}`)),
      '',
      'If it was not you, remove it in your billing settings, sign out, and answer to support.',
    ],
  };
}

const offBecause: Readonly<Record<NoticeFacts['auto_topup_off']['why'], string>> = {
  card_gone: 'The payment processor does not have your saved card any more.',
  card_expired: 'Your saved card has expired.',
  charges_held: 'A payment by your saved card was disputed, or reported as fraud: answer to support.',
};

function autoTopupOff(all: readonly NoticeFacts['auto_topup_off'][]): Words {
  const last = all.at(-1);
  return {
    subject: 'Automatic top-ups are off',
    parts: [
      ...(last === undefined ? [] : [offBecause[last.why]]),
      'Your machines stop when the balance is used up.',
      '',
      'Save another card in your billing settings and switch automatic top-ups on again.',
    ],
  };
}

/** Several shares may be passed at once: the mail tells the last one. */
function budgetReached(all: readonly NoticeFacts['budget_reached'][]): Words {
  const last = all.at(-1);
  if (last === undefined) throw new Error('a mail about a budget tells of one');
  const { month, percent, spentCents, monthlyCents, hard } = last;
  return {
    subject: `${percent} % of the budget for ${month} is spent`,
    parts: [
      'The machines of this month have cost a share of the budget that you set.',
      '',
      fact('Month (UTC)', month),
      fact('Spent', formatUsd(spentCents)),
      fact('Budget', formatUsd(monthlyCents)),
      '',
      hard
        ? 'The budget is hard: no machine is rented that may cost more than is left of it. Those that run end at their limits.'
        : 'Nothing stops by this. Stop machines that you do not need, or make the budget a hard one in your billing settings.',
    ],
  };
}

/** Names as many as a mail holds, and counts the others. */
function listed<T>(all: readonly T[], show: (one: T) => Part): Part[] {
  const more = all.length - noticeLimits.namedAtMost;
  return [...all.slice(0, noticeLimits.namedAtMost).map(show), ...(more > 0 ? [`and ${more} more`] : [])];
}
