import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { noteTopup } from '../../data/before-leaving.js';
import { beginTopup } from '../../data/topups.js';
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
  /** Pays; while the outcome of the payment before is open, asks for that one again. */
  readonly send: (amountCents: number) => void;
  /** Forgets the payment: the next press is a new one. */
  readonly reset: () => void;
}

/** One form's payment: its key is made when it is first sent, and kept as long as it may have been done. */
export function useTopup(isCardExpected: boolean): TopupHandle {
  const client = useQueryClient();
  const [isBack, setBack] = useState(false);
  const pay = useMutation({
    mutationFn: beginTopup,
    onSuccess: ({ checkoutUrl, topupId }) => {
      if (checkoutUrl === null) return;
      noteTopup(topupId);
      if (!isCardExpected) location.assign(checkoutUrl);
    },
    onSettled: () => {
      for (const noun of ['topups', 'balance']) void client.invalidateQueries({ queryKey: [noun] });
    },
  });
  useEffect(() => {
    // The browser shows this page as it was left when somebody goes back to it.
    const onShow = ({ persisted }: PageTransitionEvent): void => setBack(persisted);
    addEventListener('pageshow', onShow);
    return () => removeEventListener('pageshow', onShow);
  }, []);
  return {
    phase: phaseOf(pay, isCardExpected, isBack),
    send: (amountCents) => {
      if (pay.isPending) return;
      setBack(false);
      pay.mutate(nextWish(sentBy(pay), amountCents, () => crypto.randomUUID()));
    },
    reset: () => pay.reset(),
  };
}

type Pay = ReturnType<
  typeof useMutation<Awaited<ReturnType<typeof beginTopup>>, Error, Parameters<typeof beginTopup>[0]>
>;

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
