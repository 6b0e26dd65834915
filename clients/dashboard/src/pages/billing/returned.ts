import type { Topup } from '@gpu-rental/client';
import type { BillingSearch } from './search.js';

/** What the service said of the payment; undefined: not asked yet; null: it knows of none. */
type Told = Topup | null | undefined;

/** What somebody reads who came back from a payment page. Only what the service says of the payment counts. */
export type ReturnState =
  | { readonly kind: 'asking' }
  | { readonly kind: 'waiting'; readonly isLate: boolean }
  | { readonly kind: 'paid'; readonly creditedCents: number; readonly creditedAt: string }
  | { readonly kind: 'cancelled'; readonly resume: { url: string; amountCents: number } | undefined }
  | { readonly kind: 'failed'; readonly topup: Topup }
  | { readonly kind: 'expired' };

export function returnStateOf(
  how: NonNullable<BillingSearch['session']>,
  topup: Told,
  isLate: boolean,
): ReturnState {
  if (topup?.status === 'succeeded') return paid(topup);
  // A payment that the bank decides on may yet be paid, whatever the address says.
  if (how === 'cancel' && topup?.status !== 'processing') return cancelled(topup);
  if (topup?.status === 'failed') return { kind: 'failed', topup };
  return topup?.status === 'expired' ? { kind: 'expired' } : { kind: 'waiting', isLate };
}

function cancelled(topup: Told): ReturnState {
  if (topup === undefined) return { kind: 'asking' };
  return { kind: 'cancelled', resume: resumeOf(topup) };
}

function paid({ creditedCents, amountCents, creditedAt, createdAt }: Topup): ReturnState {
  return { kind: 'paid', creditedCents: creditedCents ?? amountCents, creditedAt: creditedAt ?? createdAt };
}

function resumeOf(topup: Told): { url: string; amountCents: number } | undefined {
  const url = topup?.checkoutUrl ?? undefined;
  return topup && url !== undefined ? { url, amountCents: topup.amountCents } : undefined;
}
