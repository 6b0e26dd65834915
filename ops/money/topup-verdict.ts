import type { TopupHistory } from '../../adapters/postgres/payments/payment-search.js';
import { iso } from '../output.js';

/** The operator's answer to a user who says that they paid, or the next step (docs/operations/a-user-says-they-paid.md). */
export function verdictOn({ topup, credits, events, parked }: TopupHistory): string {
  if (credits.length > 0) {
    const ids = credits.map(({ entryId }) => entryId).join(', ');
    return `It was paid and credited: ${ids}. For details, run ops explain.`;
  }
  const byHand = wordsOfParked(parked);
  if (byHand !== undefined) return byHand;
  const waiting = events.find(({ handled_at: handledAt }) => handledAt === null);
  if (waiting)
    return `${waiting.id} is waiting for its workflow. Check the workflow, or run ops webhooks replay ${waiting.id}.`;
  if (topup.status === 'processing') return 'The bank is processing the payment: nothing to do yet.';
  if (topup.status === 'requires_payment') {
    return `It has not been paid on the page, which is open until ${iso(topup.session_expires_at)}.`;
  }
  if (topup.status === 'failed')
    return `It failed: ${topup.decline_code ?? topup.error ?? 'no reason is known'}.`;
  return 'It was not paid. If the processor says otherwise, an event was lost: we fetch it within minutes.';
}

/** Undefined: it was never parked. Of several payments, the one that still waits is told. */
function wordsOfParked(parked: TopupHistory['parked']): string | undefined {
  const unresolved = parked.find(({ resolved_at: resolvedAt }) => resolvedAt === null);
  if (unresolved) return `It was paid, and is parked: ${unresolved.reason}. See ops parked.`;
  const [resolved] = parked;
  if (!resolved) return undefined;
  const by = resolved.credited_by === null ? '' : `, credited by ${resolved.credited_by}`;
  return `It was paid, and resolved by hand at ${iso(resolved.resolved_at)}: ${resolved.resolution}${by}. Don’t credit it again.`;
}

/** What is said of an id that belongs to no top-up. */
export function unknownPayment(id: string): string {
  return `We know nothing under ${id}. If the processor shows it as paid, run ops webhooks list --object ${id}, then ops parked.`;
}
