import type { Topup } from '@gpu-rental/client';
import { RentLink } from '../../app/next-step.js';
import { noteTopup } from '../../data/before-leaving.js';
import { wishes } from '../../data/open-wishes.js';
import type { WishBefore } from '../../data/use-wish-before.js';
import { money } from '../../format/money.js';
import { billingTexts } from '../../texts/billing.js';
import { declineOf } from '../../texts/declines.js';
import { Asking } from '../../ui/asking.js';
import { Callout } from '../../ui/badge.js';
import { Button, buttonClasses } from '../../ui/button.js';
import { ErrorNote } from '../../ui/states.js';

const t = billingTexts.before;

interface PaymentBeforeProps {
  readonly before: WishBefore<'topup'>;
}

/** What became of a payment whose answer was never seen: its page was left, loaded anew, or broke. */
export function PaymentBefore({ before: { told, isWaiting, error, retry, dismiss } }: PaymentBeforeProps) {
  if (error) return <ErrorNote error={error} onRetry={retry} />;
  if (!told) return isWaiting ? <Asking label={t.asking} /> : null;
  const amount = money(told.wish.body.amountCents);
  if (told.state === 'over') return <Over amount={amount} made={told.made} onDone={dismiss} />;
  const { made } = told;
  const url = made?.checkoutUrl ?? undefined;
  if (made && url !== undefined) return <AtPage {...{ amount, url }} topupId={made.id} onLeave={dismiss} />;
  return (
    <Callout role="status" tone="info" title={t.openTitle(amount)}>
      {t.open}
    </Callout>
  );
}

interface AtPageProps {
  readonly amount: string;
  readonly topupId: string;
  readonly url: string;
  readonly onLeave: () => void;
}

function AtPage({ amount, topupId, url, onLeave }: AtPageProps) {
  const leave = (): void => {
    wishes.forget('topup');
    onLeave();
  };
  return (
    <Callout
      role="status"
      tone="info"
      title={t.openTitle(amount)}
      actions={
        <>
          <a href={url} onClick={() => noteTopup(topupId)} className={buttonClasses('primary', 'small')}>
            {billingTexts.topup.goToPage}
          </a>
          <Button size="small" onClick={leave}>
            {billingTexts.topup.startOver}
          </Button>
        </>
      }
    >
      {t.page}
    </Callout>
  );
}

interface OverProps {
  readonly amount: string;
  readonly made: Topup | undefined;
  readonly onDone: () => void;
}

function Over({ amount, made, onDone }: OverProps) {
  const isPaid = made?.status === 'succeeded';
  return (
    <Callout
      role="status"
      tone={isPaid ? 'good' : 'neutral'}
      title={isPaid ? t.paidTitle(amount) : t.notTitle(amount)}
      actions={
        <>
          {isPaid && <RentLink />}
          <Button size="small" onClick={onDone}>
            {billingTexts.done}
          </Button>
        </>
      }
    >
      {isPaid ? t.paid : whyNot(made)}
    </Callout>
  );
}

function whyNot(made: Topup | undefined): string {
  if (made?.status !== 'failed') return t.not;
  return made.declineCode === null ? (made.error ?? t.not) : declineOf(made.declineCode).text;
}
