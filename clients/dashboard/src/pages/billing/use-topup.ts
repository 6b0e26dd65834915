import { newIdempotencyKey } from '@gpu-rental/client';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { noteTopup } from '../../data/before-leaving.js';
import { wishes } from '../../data/open-wishes.js';
import { sendWish } from '../../data/outcome.js';
import { beginTopup, paidBefore, type TopupWish } from '../../data/topups.js';
import { useMutation } from '../../data/use-mutation.js';
import { refuseTwice } from '../../data/wishes.js';
import { serviceTimeAt } from '../../live/service-clock.js';
import { useGoneBack } from '../../ui/use-gone-back.js';
import { nextWish, outcomeOf, type SentWish, type WishOutcome } from './topup-wish.js';

/** How far a payment is. */
export type TopupPhase =
  | { readonly kind: 'idle' }
  | { readonly kind: 'sending' }
  /** The browser is on its way to the payment page. */
  | { readonly kind: 'leaving' }
  /** The saved card was not charged; the payment goes on at a page. */
  | { readonly kind: 'page'; readonly url: string }
  /** The saved card is being charged, or was. */
  | { readonly kind: 'charged'; readonly topupId: string; readonly amountCents: number }
  | {
      readonly kind: 'failed';
      readonly error: unknown;
      readonly amountCents: number;
      readonly outcome: WishOutcome;
    };

interface TopupHandle {
  readonly phase: TopupPhase;
  /**
   * Pays; while the outcome of the payment before is open, asks for that one again.
   * @param isMeant somebody knows that they paid this amount a moment ago
   */
  readonly send: (amountCents: number, isMeant?: boolean) => void;
  /** Forgets the payment: the next press is a new one. */
  readonly reset: () => void;
}

interface SentTopup extends TopupWish {
  readonly userId: string;
  /** It is not asked whether the same was paid a moment ago. */
  readonly isMeant: boolean;
  /** It was sent before, and nobody knows what became of it. */
  readonly isOpen: boolean;
}

async function pay({ userId, isMeant, isOpen, amountCents, idempotencyKey: key }: SentTopup) {
  if (!isMeant) refuseTwice(await paidBefore(amountCents), serviceTimeAt(Date.now()));
  wishes.keep('topup', { userId, key, body: { amountCents }, atMs: Date.now() });
  return sendWish(isOpen, () => beginTopup({ amountCents, idempotencyKey: key }));
}

/** One form's payment: its key is made when it is first sent, and kept as long as it may have been done. */
export function useTopup(userId: string, isCardExpected: boolean): TopupHandle {
  const client = useQueryClient();
  const [isBack, setBack] = useState(false);
  const paying = useMutation({
    mutationFn: pay,
    onSettled: () => {
      for (const noun of ['topups', 'balance']) void client.invalidateQueries({ queryKey: [noun] });
    },
  });
  useGoneBack(() => setBack(true));
  const phase = phaseOf(paying, isCardExpected, isBack);
  const isSeen = isOutcomeSeen(phase);
  useEffect(() => {
    if (isSeen) wishes.forget('topup');
  }, [isSeen]);
  return {
    phase,
    send: (amountCents, isMeant = false) => {
      if (paying.isPending) return;
      setBack(false);
      const before = sentBy(paying);
      const wish = nextWish(before, amountCents, newIdempotencyKey);
      const isSame = wish.idempotencyKey === before?.idempotencyKey;
      const isOpen = isSame && before.outcome === 'open';
      const sent = { ...wish, userId, isMeant: isMeant || isSame, isOpen };
      // Whoever has gone to another page stays there: the wish is kept, and Billing leads on.
      paying.mutate(sent, {
        onSuccess: ({ checkoutUrl, topupId }) => {
          if (checkoutUrl === null) return;
          noteTopup(topupId);
          if (!isCardExpected) location.assign(checkoutUrl);
        },
      });
    },
    reset: () => {
      wishes.forget('topup');
      paying.reset();
    },
  };
}

/** Whether somebody reads what became of the payment; a charge's own note says when the bank has decided. */
function isOutcomeSeen(phase: TopupPhase): boolean {
  if (phase.kind === 'failed') return phase.outcome === 'over';
  return phase.kind === 'page' || phase.kind === 'leaving';
}

type Pay = ReturnType<typeof useMutation<Awaited<ReturnType<typeof pay>>, Error, SentTopup>>;

function sentBy({ variables, isSuccess, data, isError, error }: Pay): SentWish | undefined {
  if (variables === undefined) return undefined;
  if (isSuccess) return { ...variables, outcome: data.checkoutUrl === null ? 'over' : 'page' };
  return { ...variables, outcome: isError ? outcomeOf(error) : 'open' };
}

function phaseOf(pay: Pay, isCardExpected: boolean, isBack: boolean): TopupPhase {
  if (pay.isPending) return { kind: 'sending' };
  if (pay.isError) {
    const { error, variables } = pay;
    return { kind: 'failed', error, amountCents: variables.amountCents, outcome: outcomeOf(error) };
  }
  if (!pay.isSuccess) return { kind: 'idle' };
  const { checkoutUrl, topupId } = pay.data;
  if (checkoutUrl === null) return { kind: 'charged', topupId, amountCents: pay.variables.amountCents };
  if (isCardExpected) return { kind: 'page', url: checkoutUrl };
  return isBack ? { kind: 'idle' } : { kind: 'leaving' };
}
