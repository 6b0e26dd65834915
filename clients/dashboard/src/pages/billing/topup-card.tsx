import type { BillingConfig } from '@gpu-rental/client';
import { useQuery } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { useEffect, useRef, useState, type SubmitEvent } from 'react';
import { useIsClosing } from '../../data/is-closing.js';
import { cardQuery, savedCard, type SavedCard } from '../../data/card.js';
import { billingConfigQuery } from '../../data/billing-config.js';
import { useWishBefore } from '../../data/use-wish-before.js';
import { DoneBefore } from '../../data/wishes.js';
import { money, typedMoney } from '../../format/money.js';
import { billingTexts } from '../../texts/billing.js';
import { Button } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { classes } from '../../ui/classes.js';
import { Field } from '../../ui/field.js';
import { MoneyInput } from '../../ui/money-input.js';
import { ErrorNote, Skeleton } from '../../ui/states.js';
import { ClosedToNew } from '../account/closed-to-new.js';
import { firstAmount, presetsWithin, readAmount, type Limits } from './amounts.js';
import { cardName } from './card-state.js';
import { PaymentBefore } from './payment-before.js';
import { TopupNote } from './topup-note.js';
import { useTopup, type TopupPhase } from './use-topup.js';

const t = billingTexts.topup;

/** Where money is added: by the saved card where there is one, else on a payment page. */
export function TopupCard({ initialCents }: { readonly initialCents: number | undefined }) {
  const config = useQuery(billingConfigQuery);
  const card = useQuery(cardQuery);
  // Without a word on the card nobody can tell who would be charged.
  const failed = [config, card].find(({ data, error }) => data === undefined && error !== null);
  const isThere = config.data !== undefined && card.data !== undefined;
  if (useIsClosing()) return <ClosedToNew />;
  return (
    <Card title={t.title}>
      {failed && <ErrorNote error={failed.error} onRetry={() => void failed.refetch()} />}
      {!failed && !isThere && <Skeleton className="h-59 w-full" />}
      {isThere && (
        <Topup limits={limitsOf(config.data)} card={savedCard(card.data)} initialCents={initialCents} />
      )}
    </Card>
  );
}

function limitsOf({ minTopupCents, maxTopupCents }: BillingConfig): Limits {
  return { minCents: minTopupCents, maxCents: maxTopupCents };
}

interface TopupFormProps {
  readonly limits: Limits;
  readonly card: SavedCard | undefined;
  readonly initialCents: number | undefined;
  readonly userId: string;
  /** Somebody pays: what was said of the payment before is over. */
  readonly onSend: () => void;
}

/** The form; before it, what became of a payment that was sent and never answered here. */
function Topup(props: Omit<TopupFormProps, 'userId' | 'onSend'>) {
  const before = useWishBefore('topup');
  return (
    <div className="flex flex-col gap-4">
      <PaymentBefore before={before} />
      {!before.isWaiting && <TopupForm {...props} userId={before.userId} onSend={before.dismiss} />}
    </div>
  );
}

function TopupForm({ limits, card, initialCents, userId, onSend }: TopupFormProps) {
  const presets = presetsWithin(limits);
  const [amount, setAmount] = useState(() => typedMoney(firstAmount(initialCents, limits)));
  const [isChecked, setChecked] = useState(false);
  const field = useAsked(AMOUNT);
  const { phase, send: pay, reset } = useTopup(userId, card !== undefined);
  const send: typeof pay = (...payment) => {
    onSend();
    pay(...payment);
  };
  const read = readAmount(amount, limits, t);
  const isLocked = isUnderWay(phase);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    setChecked(true);
    if ('cents' in read) send(read.cents);
  };
  const choose = (text: string): void => {
    setAmount(text);
    if (phase.kind !== 'idle') reset();
  };
  return (
    <form noValidate className="flex flex-col gap-4" onSubmit={submit}>
      <Presets
        presets={presets}
        chosen={'cents' in read ? read.cents : undefined}
        isLocked={isLocked}
        onChoose={choose}
      />
      <Field
        label={t.amount}
        hint={t.limits(money(limits.minCents), money(limits.maxCents))}
        error={isChecked && 'error' in read ? read.error : undefined}
      >
        {(ids) => (
          <MoneyInput
            {...ids}
            ref={field}
            name="amount"
            value={amount}
            disabled={isLocked}
            onChange={({ target }) => choose(target.value)}
            onBlur={() => setChecked(true)}
          />
        )}
      </Field>
      <PayButton card={card} cents={'cents' in read ? read.cents : undefined} phase={phase} />
      <TopupNote phase={phase} onSend={send} onReset={reset} />
    </form>
  );
}

const AMOUNT = 'amount';

/** Leads the focus to a field that the address asks for: `/app/billing#amount`. */
function useAsked(name: string) {
  const { hash } = useLocation();
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (hash === name) field.current?.focus();
  }, [hash, name]);
  return field;
}

/** While this lasts the amount is that of the payment that was sent. */
function isUnderWay(phase: TopupPhase): boolean {
  return (
    phase.kind === 'sending' ||
    phase.kind === 'leaving' ||
    phase.kind === 'charged' ||
    (phase.kind === 'failed' && phase.outcome === 'open')
  );
}

interface PresetsProps {
  readonly presets: readonly number[];
  readonly chosen: number | undefined;
  readonly isLocked: boolean;
  readonly onChoose: (text: string) => void;
}

function Presets({ presets, chosen, isLocked, onChoose }: PresetsProps) {
  return (
    <div role="group" aria-label={t.presets} className="flex flex-wrap gap-2">
      {presets.map((cents) => (
        <button
          key={cents}
          type="button"
          aria-pressed={cents === chosen}
          disabled={isLocked}
          onClick={() => onChoose(typedMoney(cents))}
          className={classes(
            'min-h-10 flex-1 rounded-md border px-1.5 text-sm font-medium tabular disabled:opacity-50 pointer-coarse:min-h-11',
            cents === chosen
              ? 'border-accent bg-accent-soft text-ink'
              : 'border-line-strong bg-surface text-soft hover:bg-sunken hover:text-ink',
          )}
        >
          {money(cents).replace(/\.00$/, '')}
        </button>
      ))}
    </div>
  );
}

interface PayButtonProps {
  readonly card: SavedCard | undefined;
  readonly cents: number | undefined;
  readonly phase: TopupPhase;
}

/** Says what a press costs, and who is charged. */
function PayButton({ card, cents, phase }: PayButtonProps) {
  if (phase.kind === 'charged' || phase.kind === 'page') return null;
  if (phase.kind === 'failed' && (phase.outcome === 'open' || phase.error instanceof DoneBefore)) return null;
  const isBusy = phase.kind === 'sending' || phase.kind === 'leaving';
  return (
    <div className="flex flex-col gap-2">
      <Button look="primary" type="submit" isBusy={isBusy} className="w-full whitespace-normal">
        {phase.kind === 'leaving' ? t.leaving : payLabel(card, cents)}
      </Button>
      <p className="text-[13px] text-muted">{card ? t.byCard : t.onPage}</p>
    </div>
  );
}

function payLabel(card: SavedCard | undefined, cents: number | undefined): string {
  if (cents === undefined) return t.pay;
  return card ? t.payByCard(money(cents), cardName(card)) : t.payOnPage(money(cents));
}
