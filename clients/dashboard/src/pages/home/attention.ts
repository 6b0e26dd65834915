import {
  type ApiKey,
  type AutoTopup,
  type Budget,
  type Card,
  lookUp,
  type Rental,
  type Standing,
  type Webhook,
  wordOf,
} from '@gpu-rental/client';
import { supportHref } from '../../data/support.js';
import { money } from '../../format/money.js';
import { DAY_MS } from '../../format/months.js';
import { shortTime, span } from '../../format/time.js';
import { homeTexts } from '../../texts/home.js';
import { apiKeyState } from '../api-keys/state.js';
import { cardName, validityOf } from '../billing/card-state.js';

const t = homeTexts.attention;

/** Something that somebody should know of, and what they can do. */
export interface Attention {
  readonly id: string;
  readonly tone: 'warn' | 'bad';
  readonly title: string;
  readonly text: string;
  readonly action: string;
  /** A page of the dashboard, or an address outside. */
  readonly to: string;
}

/** What is known of an account; what is not known yet warns of nothing. */
export interface Known {
  readonly nowMs: number;
  readonly balance: BalanceNow | undefined;
  readonly autoTopup: AutoTopup | undefined;
  readonly card: Card | undefined;
  readonly budget: Budget | undefined;
  readonly standing: Standing | undefined;
  /** Where to get help; undefined where nobody is named. */
  readonly supportContact: string | undefined;
  readonly webhooks: readonly Webhook[] | undefined;
  readonly apiKeys: readonly ApiKey[] | undefined;
  /** Whether there ever was a machine. */
  readonly isNew: boolean;
  readonly rentals: readonly Rental[];
  /** What a rental has cost by now. */
  readonly chargedCents: (rental: Rental) => number;
  readonly nameOf: (rental: Rental) => string;
}

interface BalanceNow {
  readonly totalCents: number;
  readonly openInvoicesCents: number;
  readonly openInvoiceCount: number;
  /** Null when nothing runs. */
  readonly runwaySeconds: number | null;
}

const LOW_SECONDS = 3_600;
const VERY_LOW_SECONDS = 900;
const LIMIT_NEAR_MS = 30 * 60_000;
/** From this part of a limit on, in percent. */
const LIMIT_NEAR_PERCENT = 90;
const BUDGET_NEAR_PERCENT = 80;
/** A key's end is told in its last tenth, and at most this long before. */
const KEY_NEAR_MS = 7 * DAY_MS;
const OFF_TOLD_MS = 7 * DAY_MS;

/** What needs somebody now, the worst first. */
export function attentionOf(known: Known): Attention[] {
  const found = [
    ...blocked(known),
    ...takenBack(known),
    ...owed(known),
    ...low(known),
    ...empty(known),
    ...known.rentals.flatMap((rental) => [...warned(known, rental), ...nearItsEnd(known, rental)]),
    ...chargesHeld(known),
    ...autoTopupAtRisk(known),
    ...cardNear(known),
    ...budgetNear(known),
    ...(known.webhooks ?? []).flatMap((hook) => webhookFails(hook, known.nowMs)),
    ...(known.apiKeys ?? []).flatMap((key) => keyNearItsEnd(key, known.nowMs)),
  ];
  return [...found.filter(({ tone }) => tone === 'bad'), ...found.filter(({ tone }) => tone === 'warn')];
}

/** Asks support where somebody is named; else leads to where it can be looked at. */
function asking({ supportContact }: Known, page: Pick<Attention, 'action' | 'to'>): typeof page {
  return supportContact === undefined ? page : { action: t.askSupport, to: supportHref(supportContact) };
}

function blocked(known: Known): Attention[] {
  if ((known.standing?.blockedReason ?? null) === null) return [];
  const ask = asking(known, { action: t.activity, to: '/app/activity' });
  return [{ id: 'blocked', tone: 'bad', title: t.blocked, text: t.blockedText, ...ask }];
}

function takenBack(known: Known): Attention[] {
  return (known.standing?.reversals ?? []).map((reversal, at) => {
    const { kind, amountCents, debitedCents, invoicedCents } = reversal;
    const taken = debitedCents > 0 ? [t.debited(money(debitedCents))] : [];
    const owed = invoicedCents > 0 ? [t.invoiced(money(invoicedCents))] : [];
    const told = {
      id: `taken-back-${at}`,
      tone: 'bad',
      text: [...taken, ...owed].join(' ') || t.tookNothing,
    } as const;
    const ledger = { action: t.ledger, to: '/app/ledger' };
    if (kind === 'dispute') {
      const text = `${told.text} ${t.disputedText}`;
      return { ...told, title: t.disputed(money(amountCents)), text, ...asking(known, ledger) };
    }
    return { ...told, tone: 'warn', title: t.refunded(money(amountCents)), ...ledger };
  });
}

function chargesHeld(known: Known): Attention[] {
  if (known.standing?.chargesHeld !== true) return [];
  const ask = asking(known, { action: t.billing, to: '/app/billing' });
  return [{ id: 'charges-held', tone: 'warn', title: t.held, text: t.heldText, ...ask }];
}

/** Nothing to rent with. New accounts are led to their first money already. */
function empty({ balance, isNew }: Known): Attention[] {
  const isEmpty = balance?.runwaySeconds === null && balance.totalCents <= 0 && !isNew;
  if (!isEmpty || balance.openInvoiceCount > 0) return [];
  const add = { action: homeTexts.addMoney, to: '/app/billing' };
  return [{ id: 'empty', tone: 'warn', title: t.empty, text: t.emptyText, ...add }];
}

function owed({ balance }: Known): Attention[] {
  if (!balance || balance.openInvoiceCount === 0) return [];
  const title = t.owed(money(balance.openInvoicesCents), balance.openInvoiceCount);
  return [{ id: 'owed', tone: 'bad', title, text: t.owedText, action: t.pay, to: '/app/invoices' }];
}

function low({ balance, autoTopup }: Known): Attention[] {
  const seconds = balance?.runwaySeconds ?? Infinity;
  if (seconds >= LOW_SECONDS) return [];
  return [
    {
      id: 'low',
      tone: seconds < VERY_LOW_SECONDS ? 'bad' : 'warn',
      title: t.low(minutes(seconds)),
      text: autoTopup?.enabled === true ? t.lowTopupText : t.lowText,
      action: homeTexts.addMoney,
      to: '/app/billing',
    },
  ];
}

/** Whole minutes, at least one. */
const minutes = (seconds: number): string => span(Math.max(1, Math.ceil(seconds / 60)) * 60);

function warned({ nameOf }: Known, rental: Rental): Attention[] {
  // A public port was asked for: the rental's own page says so.
  return rental.warnings
    .filter((warning) => warning !== 'public_port')
    .map((warning) => {
      return {
        id: `${rental.id}-${warning}`,
        tone: warning === 'host_key_changed' ? 'bad' : 'warn',
        title: t.machine(nameOf(rental), lookUp(t.warnings, warning) ?? t.warnings.other),
        text: lookUp(t.warningTexts, warning) ?? t.warningTexts.other,
        action: t.look,
        to: `/app/rentals/${rental.id}`,
      };
    });
}

function nearItsEnd(known: Known, rental: Rental): Attention[] {
  if (rental.status !== 'running') return [];
  const told = (what: string, text: string): Attention[] => [
    {
      id: `${rental.id}-limit`,
      tone: 'warn',
      title: t.machine(known.nameOf(rental), what),
      text,
      action: t.extend,
      to: `/app/rentals/${rental.id}?limits=true`,
    },
  ];
  const leftMs = rental.autoStopAt === null ? Infinity : Date.parse(rental.autoStopAt) - known.nowMs;
  if (leftMs < LIMIT_NEAR_MS) return told(t.endsIn(minutes(leftMs / 1_000)), t.endsText);
  const { maxSpendCents } = rental;
  const chargedCents = known.chargedCents(rental);
  if (maxSpendCents === null || chargedCents * 100 < maxSpendCents * LIMIT_NEAR_PERCENT) return [];
  return told(t.spendNear(money(Math.max(0, maxSpendCents - chargedCents))), t.spendText);
}

function autoTopupAtRisk({ autoTopup, card, standing }: Known): Attention[] {
  const told = (title: string, text: string): Attention[] => [
    { id: 'auto-topup', tone: 'warn', title, text, action: t.billing, to: '/app/billing' },
  ];
  if (!autoTopup) return [];
  const { enabled, disabledReason } = autoTopup;
  // What holds the card is told by itself.
  if (disabledReason === 'charges_held' && standing?.chargesHeld === true) return [];
  if (!enabled)
    return disabledReason === null ? [] : told(t.topupOff, wordOf(t.topupOffReasons, disabledReason));
  return card?.pmId === null ? told(t.noCard, t.noCardText) : [];
}

function cardNear({ autoTopup, card, nowMs }: Known): Attention[] {
  // A card whose end has switched automatic top-ups off is told with them.
  if (!card || autoTopup?.disabledReason === 'card_expired') return [];
  const validity = validityOf(card, new Date(nowMs));
  if (validity === 'valid') return [];
  return [
    {
      id: 'card',
      tone: 'warn',
      title: validity === 'expired' ? t.cardExpired(cardName(card)) : t.cardExpires(cardName(card)),
      text: autoTopup?.enabled === true ? t.cardTopupText : t.cardText,
      action: t.replaceCard,
      to: '/app/billing',
    },
  ];
}

function webhookFails({ id, url, state, failingSince, ...hook }: Webhook, nowMs: number): Attention[] {
  const host = URL.canParse(url) ? new URL(url).host : url;
  const look = { action: t.webhook, to: `/app/webhooks/${id}` };
  const { switchedOffAt, switchedOffReason } = hook;
  if (state === 'switched_off' && switchedOffAt !== null) {
    if (nowMs - Date.parse(switchedOffAt) > OFF_TOLD_MS) return [];
    const text =
      switchedOffReason === null ? t.webhookOffText : wordOf(t.webhookOffReasons, switchedOffReason);
    return [{ id, tone: 'warn', title: t.webhookOff(host), text, ...look }];
  }
  if (state !== 'enabled' || failingSince === null) return [];
  return [
    {
      id,
      tone: 'warn',
      title: t.webhookFails(host),
      text: t.webhookFailsText(shortTime(failingSince)),
      ...look,
    },
  ];
}

function keyNearItsEnd(key: ApiKey, nowMs: number): Attention[] {
  const endsMs = Date.parse(key.expiresAt);
  const leftMs = endsMs - nowMs;
  const isNear = leftMs < Math.min(KEY_NEAR_MS, (endsMs - Date.parse(key.createdAt)) / 10);
  if (apiKeyState(key, nowMs) !== 'live' || !isNear) return [];
  return [
    {
      id: key.id,
      tone: 'warn',
      title: t.keyEnds(key.name, minutes(leftMs / 1_000)),
      text: t.keyEndsText,
      action: t.keys,
      to: '/app/api-keys',
    },
  ];
}

function budgetNear({ budget }: Known): Attention[] {
  const { monthlyCents, spentCents, hard } = budget ?? { monthlyCents: null, spentCents: 0, hard: false };
  if (monthlyCents === null || monthlyCents === 0) return [];
  const percent = Math.floor((spentCents * 100) / monthlyCents);
  if (percent < BUDGET_NEAR_PERCENT) return [];
  return [
    {
      id: 'budget',
      tone: percent >= 100 && hard ? 'bad' : 'warn',
      title: t.budget(percentFormat.format(percent / 100)),
      text: hard ? t.budgetHardText : t.budgetText,
      action: t.budgetAction,
      to: '/app/budget',
    },
  ];
}

const percentFormat = new Intl.NumberFormat('en-US', { style: 'percent' });
