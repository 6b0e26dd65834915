import { machineWords } from '../catalog/machine-words.js';
import { formatUsd } from '../money.js';
import type { ToldKind } from '../notices/kinds.js';
import { noticeLimits } from '../notices/limits.js';
import type {
  EndedMachine,
  EndKind,
  IdleMachine,
  NoticeFacts,
  PasskeyFacts,
  SetupAct,
  StatementFacts,
} from '../notices/notices.js';
import { brandOf } from '../payments/card-brands.js';
import { answerToSupport, messageOf, type Message } from './message.js';
import { command, fact, quietLink, row, type Part } from './parts.js';
import { webhooksSwitchedOff } from './webhooks.js';

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
  const when =
    told.kind === 'statement'
      ? 'once a month'
      : 'when something happens in your account that you did not ask for';
  const why = `We send this email ${when}. You can turn it off.`;
  const footer = unsubscribeUrl === null ? [] : ['', why, quietLink('Turn off these emails', unsubscribeUrl)];
  return messageOf(subject, [...parts, ...footer]);
}

interface Words {
  readonly subject: string;
  readonly parts: readonly Part[];
}

function wordsOf(told: Told): Words {
  if (isEnd(told)) return machinesEnded(told.kind, told.all);
  const words: (all: never) => Words = wordsByKind[told.kind];
  return words(told.all as never);
}

function isEnd(told: Told): told is Extract<Told, { kind: EndKind }> {
  return told.kind in ends;
}

const wordsByKind: {
  readonly [K in Exclude<ToldKind, EndKind>]: (all: readonly NoticeFacts[K][]) => Words;
} = {
  ssh_key_added: keysAdded,
  passkey_added: passkeysAdded,
  passkey_refused: passkeysRefused,
  api_key_created: apiKeysCreated,
  api_key_widened: apiKeysWidened,
  setup_acted: setUp,
  card_saved: cardsSaved,
  budget_reached: budgetReached,
  rental_idle_near: idleMachines,
  statement,
  auto_topup_off: autoTopupOff,
  webhook_switched_off: (all) => webhooksSwitchedOff(all, (show) => listed(all, show)),
};

/** What became of machines: the subject, why, and what to do now. */
const ends: Readonly<
  Record<
    EndKind,
    {
      subject: (machines: string, isOne: boolean) => string;
      why: string;
      whyMany: string;
      next: string;
    }
  >
> = {
  rental_auto_stop: {
    subject: (machines) => `We stopped ${machines} at the time you set`,
    why: 'The rental reached its time limit.',
    whyMany: 'These rentals reached their time limits.',
    next: 'To continue, rent another machine with a later limit, or without one.',
  },
  rental_spend_limit: {
    subject: (machines) => `We stopped ${machines} at your spending limit`,
    why: 'The rental reached its spending limit.',
    whyMany: 'These rentals reached their spending limits.',
    next: 'To continue, rent another machine with a higher limit, or without one.',
  },
  rental_idle: {
    subject: (machines) => `We stopped ${machines} for being idle`,
    why: 'It was idle for as long as you set.',
    whyMany: 'They were idle for as long as you set.',
    next: 'To continue, rent another machine with a longer time, or without an idle guard.',
  },
  rental_balance_exhausted: {
    subject: (machines) => `Your balance ran out, so we stopped ${machines}`,
    why: 'Your wallet could not pay for more time.',
    whyMany: 'Your wallet could not pay for more time.',
    next: 'Top up your wallet before you rent again. Automatic top-ups keep machines running.',
  },
  rental_operator_stop: {
    subject: (machines) => `Our operators stopped ${machines}`,
    why: 'You pay for the time until then, and nothing for a machine that was not ready yet.',
    whyMany: 'You pay for the time until then, and nothing for machines that were not ready yet.',
    next: answerToSupport,
  },
  rental_lost: {
    subject: (machines, isOne) => (isOne ? 'Your machine was lost' : `${machines} were lost`),
    why: 'The provider no longer has it. You pay only for the time we know it was running.',
    whyMany: 'The provider no longer has them. You pay only for the time we know they were running.',
    next: 'Everything on the disk is gone. You can rent again now.',
  },
  rental_failed: {
    subject: (machines) => `We could not provide ${machines}`,
    why: 'It never became ready, so you pay nothing for it.',
    whyMany: 'They never became ready, so you pay nothing for them.',
    next: 'You can try again, perhaps in another region.',
  },
};

function machinesEnded(kind: EndKind, all: readonly EndedMachine[]): Words {
  const { subject, why, whyMany, next } = ends[kind];
  const [only, ...others] = all;
  const isOne = only !== undefined && others.length === 0;
  const shown = isOne ? machineFacts(only) : listed(all, machineRow);
  return {
    subject: subject(isOne ? 'your machine' : `${all.length} of your machines`, isOne),
    parts: [isOne ? why : whyMany, '', ...shown, '', next],
  };
}

function machineFacts(machine: EndedMachine): Part[] {
  const { rentalId, name, error } = machine;
  return [
    fact('Rental', rentalId),
    ...(name === null ? [] : [fact('Name', name)]),
    fact('Machine', hardwareOf(machine)),
    fact('Total charged', formatUsd(machine.chargedCents)),
    ...(error === null ? [] : [fact('What happened', error)]),
  ];
}

function machineRow(machine: EndedMachine): Part {
  const name = machine.name === null ? [] : [machine.name];
  return row(machine.rentalId, hardwareOf(machine), formatUsd(machine.chargedCents), ...name);
}

function idleMachines(all: readonly IdleMachine[]): Words {
  const [only, ...others] = all;
  const isOne = only !== undefined && others.length === 0;
  return {
    subject: `${isOne ? 'Your machine is' : `${all.length} of your machines are`} idle and will stop soon`,
    parts: [
      'You asked us to stop machines that nobody uses. Everything on the disk is lost then.',
      '',
      ...listed(all, (machine) =>
        row(
          ...[machine.rentalId, hardwareOf(machine), `stops at ${minuteOf(machine.stopsAt)}`],
          ...(machine.name === null ? [] : [machine.name]),
        ),
      ),
      '',
      'To keep one, use its GPUs, or choose “Keep it running” on its page, or type: gpu keep-alive ID --for 2h',
    ],
  };
}

/** An instant as a mail tells it, in UTC: 09:45 UTC. */
function minuteOf(at: string): string {
  return `${at.slice(11, 16)} UTC`;
}

function hardwareOf({ gpuCount, model }: Pick<EndedMachine, 'gpuCount' | 'model'>): string {
  return machineWords(gpuCount, model);
}

function keysAdded(all: readonly NoticeFacts['ssh_key_added'][]): Words {
  const isOne = all.length === 1;
  return {
    subject: isOne
      ? 'An SSH key was added to your account'
      : `${all.length} SSH keys were added to your account`,
    parts: [
      'Whoever has such a key can log in to the machines that you rent with it.',
      '',
      ...listed(all, ({ name, fingerprint }) => fact(name, fingerprint)),
      '',
      'If this was not you, somebody else is signed in to your account: remove the key, end your other sessions, and contact support.',
    ],
  };
}

function passkeysAdded(all: readonly PasskeyFacts[]): Words {
  const isOne = all.length === 1;
  return {
    subject: isOne
      ? 'A passkey was added to your account'
      : `${all.length} passkeys were added to your account`,
    parts: [
      'Whoever can unlock the device that keeps it can sign in to your account. Emailed codes still work.',
      '',
      ...listed(all, ({ name }) => fact('Passkey', name)),
      '',
      'If this was not you, somebody else is signed in to your account: open Sessions, remove the passkey, end your other sessions, and contact support.',
    ],
  };
}

function passkeysRefused(all: readonly PasskeyFacts[]): Words {
  return {
    subject: 'We refused a passkey of your account',
    parts: [
      'It counts how often it is used, and the count went back. Somebody may have copied it.',
      '',
      ...listed(all, ({ name }) => fact('Passkey', name)),
      '',
      'Open Sessions, remove this passkey, and add a new one. Sign in with an emailed code if you need to.',
    ],
  };
}

function apiKeysCreated(all: readonly NoticeFacts['api_key_created'][]): Words {
  const isOne = all.length === 1;
  return {
    subject: isOne
      ? 'An API key was created in your account'
      : `${all.length} API keys were created in your account`,
    parts: [
      'A program that has such a key can call the API in your name, within the key’s scopes.',
      '',
      ...listed(all, ({ name, scopes, hint }) => fact(name, `${scopes.join(', ')}; ends with ${hint}`)),
      '',
      'If this was not you, somebody else is signed in to your account: revoke the key, end your other sessions, and contact support.',
    ],
  };
}

function apiKeysWidened(all: readonly NoticeFacts['api_key_widened'][]): Words {
  return {
    subject: 'An API key in your account can do more now',
    parts: [
      'Its spending cap was raised or removed, or it works from more addresses. This is what it can do now:',
      '',
      ...listed(all, ({ name, hint, spendCapCents: cap, allowedCidrs: from }) =>
        fact(
          name,
          `${cap === null ? 'no spending cap' : `spending cap ${formatUsd(cap)}`}; works from ${from === null ? 'anywhere' : from.join(', ')}; ends with ${hint}`,
        ),
      ),
      '',
      'If this was not you, somebody else is signed in to your account: revoke the key, end your other sessions, and contact support.',
    ],
  };
}

const setUpWords: Readonly<Record<SetupAct, string>> = {
  webhook_created: 'Created a webhook',
  webhook_changed: 'Changed a webhook',
  webhook_removed: 'Removed a webhook',
  ssh_key_added: 'Added an SSH key',
  ssh_key_removed: 'Removed an SSH key',
  budget_changed: 'Lowered the budget',
};

function setUp(all: readonly NoticeFacts['setup_acted'][]): Words {
  return {
    subject:
      all.length === 1
        ? 'An API key changed your account’s setup'
        : `API keys made ${all.length} changes to your account’s setup`,
    parts: [
      'You gave these keys the scope “setup”. We send this email at most once an hour.',
      '',
      ...listed(all, ({ keyName, act, what }) => fact(`${keyName}: ${setUpWords[act]}`, what)),
      '',
      'If this was not your program, revoke the key. You can remove everything it made at the same time.',
    ],
  };
}

function cardsSaved(all: readonly NoticeFacts['card_saved'][]): Words {
  return {
    subject: 'A card was saved to your account',
    parts: [
      'We charge it when you top up, and for automatic top-ups if you turn them on.',
      '',
      ...listed(all, ({ brand, last4 }) => fact('Card', `${brandOf(brand)} ending in ${last4}`)),
      '',
      'If this was not you, remove the card in your billing settings, end your other sessions, and contact support.',
    ],
  };
}

const offBecause: Readonly<Record<NoticeFacts['auto_topup_off']['why'], string>> = {
  card_gone: 'The payment processor no longer has your saved card.',
  card_expired: 'Your saved card has expired.',
  charges_held: 'A payment with your saved card was disputed or reported as fraud. Contact support.',
};

function autoTopupOff(all: readonly NoticeFacts['auto_topup_off'][]): Words {
  const last = all.at(-1);
  return {
    subject: 'Automatic top-ups are off',
    parts: [
      ...(last === undefined ? [] : [offBecause[last.why]]),
      'Your machines stop when your balance runs out.',
      '',
      'Save another card in your billing settings, then turn automatic top-ups back on.',
    ],
  };
}

/** Each month has a mail of its own, but for months that were told late: then the last one. */
function statement(all: readonly StatementFacts[]): Words {
  const last = all.at(-1);
  if (last === undefined) throw new Error('a mail with a statement tells of a month');
  const { month, openingCents, paidInCents, machinesCents, otherCents, closingCents, rootHash } = last;
  const file = `proof-${month}.txt`;
  return {
    subject: `Your statement for ${nameOfMonth(month)}`,
    parts: [
      `You spent ${formatUsd(-machinesCents)} on machines in ${nameOfMonth(month)} (UTC). Your billing pages list them.`,
      '',
      fact('Balance at the start', formatUsd(openingCents)),
      fact('Top-ups', formatUsd(paidInCents)),
      fact('Machines', formatUsd(machinesCents)),
      ...(otherCents === 0 ? [] : [fact('Refunds and corrections', formatUsd(otherCents))]),
      fact('Balance at the end', formatUsd(closingCents)),
      ...(rootHash === null
        ? []
        : [
            '',
            'Keep this email. With it, these commands show whether anyone has changed these entries:',
            command(`gpu proof ${month} > ${file}`),
            command(`gpu verify ${file} --root ${rootHash}`),
          ]),
    ],
  };
}

/** October 2026 */
function nameOfMonth(month: string): string {
  const format = new Intl.DateTimeFormat('en-US', { month: 'long', year: 'numeric', timeZone: 'UTC' });
  return format.format(new Date(`${month}-01`));
}

/** Several shares may be passed at once: the mail tells the last one. */
function budgetReached(all: readonly NoticeFacts['budget_reached'][]): Words {
  const last = all.at(-1);
  if (last === undefined) throw new Error('a mail about a budget tells of one');
  const { month, percent, spentCents, monthlyCents, hard } = last;
  return {
    subject: `You have spent ${percent}% of your budget for ${month}`,
    parts: [
      'This is what your machines have cost this month, and the budget that you set:',
      '',
      fact('Month (UTC)', month),
      fact('Spent', formatUsd(spentCents)),
      fact('Budget', formatUsd(monthlyCents)),
      '',
      hard
        ? 'It is a hard budget: you can’t rent a machine that may cost more than what is left. Running machines stop at their limits.'
        : 'Your machines keep running. Stop those you do not need, or choose “Never go over it” on the Budget page.',
    ],
  };
}

/** Names as many as a mail holds, and counts the others. */
function listed<T>(all: readonly T[], show: (one: T) => Part): Part[] {
  const more = all.length - noticeLimits.namedAtMost;
  return [...all.slice(0, noticeLimits.namedAtMost).map(show), ...(more > 0 ? [`and ${more} more`] : [])];
}
