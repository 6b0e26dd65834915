import { type AutoTopup, type Budget, type Card, lookUp, type Rental, wordOf } from '@gpu-rental/client';
import { money } from '../../format/money.js';
import { span } from '../../format/time.js';
import { homeTexts } from '../../texts/home.js';
import { validityOf } from '../billing/card-state.js';

const t = homeTexts.attention;

/** Something that somebody should know of, and what they can do. */
export interface Attention {
  readonly id: string;
  readonly tone: 'warn' | 'bad';
  readonly title: string;
  readonly text: string;
  readonly action: string;
  readonly to: string;
}

/** What is known of an account; what is not known yet warns of nothing. */
export interface Known {
  readonly nowMs: number;
  readonly balance: BalanceNow | undefined;
  readonly autoTopup: AutoTopup | undefined;
  readonly card: Card | undefined;
  readonly budget: Budget | undefined;
  readonly rentals: readonly Rental[];
  /** What a rental has cost by now. */
  readonly chargedCents: (rental: Rental) => number;
  readonly nameOf: (rental: Rental) => string;
}

interface BalanceNow {
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

/** What needs somebody now, the worst first. */
export function attentionOf(known: Known): Attention[] {
  const found = [
    ...owed(known),
    ...low(known),
    ...known.rentals.flatMap((rental) => [...warned(known, rental), ...nearItsEnd(known, rental)]),
    ...autoTopupAtRisk(known),
    ...budgetNear(known),
  ];
  return [...found.filter(({ tone }) => tone === 'bad'), ...found.filter(({ tone }) => tone === 'warn')];
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
  return rental.warnings.map((warning) => {
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
      to: `/app/rentals/${rental.id}`,
    },
  ];
  const leftMs = rental.autoStopAt === null ? Infinity : Date.parse(rental.autoStopAt) - known.nowMs;
  if (leftMs < LIMIT_NEAR_MS) return told(t.endsIn(minutes(leftMs / 1_000)), t.endsText);
  const { maxSpendCents } = rental;
  const chargedCents = known.chargedCents(rental);
  if (maxSpendCents === null || chargedCents * 100 < maxSpendCents * LIMIT_NEAR_PERCENT) return [];
  return told(t.spendNear(money(Math.max(0, maxSpendCents - chargedCents))), t.spendText);
}

function autoTopupAtRisk({ autoTopup, card, nowMs }: Known): Attention[] {
  const told = (title: string, text: string): Attention[] => [
    { id: 'auto-topup', tone: 'warn', title, text, action: t.billing, to: '/app/billing' },
  ];
  if (!autoTopup) return [];
  const { enabled, disabledReason } = autoTopup;
  if (!enabled)
    return disabledReason === null ? [] : told(t.topupOff, wordOf(t.topupOffReasons, disabledReason));
  if (!card) return [];
  if (card.pmId === null) return told(t.noCard, t.noCardText);
  const validity = validityOf(card, new Date(nowMs));
  if (validity === 'expired') return told(t.cardExpired, t.cardText);
  return validity === 'soon' ? told(t.cardExpires, t.cardText) : [];
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
