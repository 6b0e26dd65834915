import { isId, type UserId } from '../ids.js';

/**
 * The workflow that acts on an event of the payment processor. The workflow's id is our own from the metadata, or the
 * id of the processor's object (design: Temporal 1), so that every event about one thing meets one workflow.
 */
export type EventWorkflow = 'topup' | 'autoTopup' | 'payment' | 'card' | 'invoice' | 'refund' | 'dispute';

export interface EventRoute {
  readonly workflow: EventWorkflow;
  readonly workflowId: string;
}

/** The kinds of events that the processor is asked to send (docs/operations/stripe.md); its own list holds many others. */
export const sentKinds: ReadonlySet<string> = new Set([
  'checkout.session.completed',
  'checkout.session.async_payment_succeeded',
  'checkout.session.async_payment_failed',
  'checkout.session.expired',
  'payment_intent.succeeded',
  'payment_intent.payment_failed',
  'payment_intent.canceled',
  'setup_intent.succeeded',
  'setup_intent.setup_failed',
  'payment_method.detached',
  'payment_method.automatically_updated',
  'refund.created',
  'refund.updated',
  'refund.failed',
  'charge.refunded',
  'charge.dispute.created',
  'charge.dispute.updated',
  'charge.dispute.closed',
  'charge.dispute.funds_withdrawn',
  'charge.dispute.funds_reinstated',
  'radar.early_fraud_warning.created',
  'radar.early_fraud_warning.updated',
  'invoice.paid',
  'invoice.payment_succeeded',
  'invoice.payment_failed',
  'invoice.voided',
  'invoice.marked_uncollectible',
]);

/** The parts of an event that routing reads. */
export interface RoutedEvent {
  readonly kind: string;
  /** The event's `data.object`. */
  readonly object: Readonly<Record<string, unknown>>;
}

/** Returns the workflow that acts on an event; null for an event that nobody acts on, which is kept all the same. */
export function routeOf({ kind, object }: RoutedEvent): EventRoute | null {
  const route = routes.get(object['object']);
  return route === undefined ? null : route(kind, object);
}

type Route = (kind: string, object: RoutedEvent['object']) => EventRoute | null;

/** The routes by the type of the event's object. */
const routes: ReadonlyMap<unknown, Route> = new Map<unknown, Route>([
  ['checkout.session', routeOfPayment],
  ['payment_intent', routeOfPayment],
  ['setup_intent', routeOfSetup],
  ['payment_method', (kind, object) => (cardKinds.has(kind) ? to('card', object['id']) : null)],
  ['refund', (_kind, object) => to('refund', object['id'])],
  // A second way to refunds whose own events never came: the workflow lists the refunds of the charge.
  ['charge', (kind, object) => (kind === 'charge.refunded' ? to('refund', object['id']) : null)],
  ['dispute', (_kind, object) => to('dispute', object['id'])],
  // Both say that a payment is denied, and meet one kind of workflow, which asks for the subject of its events.
  ['radar.early_fraud_warning', (_kind, object) => to('dispute', object['id'])],
  ['invoice', routeOfInvoice],
]);

/** The id of a user's auto-topup workflow: one per user, so that there are never two attempts at once. */
export function autoTopupWorkflowId(userId: UserId): string {
  return `auto-topup:${userId}`;
}

/** The user of an auto-topup workflow's id. */
export function userOfAutoTopup(workflowId: string): string {
  return workflowId.slice('auto-topup:'.length);
}

/** The events that settle an invoice; we ourselves make, finalize and change it. */
const invoiceKinds = new Set([
  'invoice.paid',
  'invoice.payment_succeeded',
  'invoice.voided',
  'invoice.marked_uncollectible',
]);

function routeOfInvoice(kind: string, object: RoutedEvent['object']): EventRoute | null {
  const { invoice_id: invoiceId } = metadataOf(object);
  const isOurs = typeof invoiceId === 'string' && isId('inv', invoiceId);
  return isOurs && invoiceKinds.has(kind) ? to('invoice', invoiceId) : null;
}

function routeOfSetup(kind: string, object: RoutedEvent['object']): EventRoute | null {
  const isOurs = kind === 'setup_intent.succeeded' && metadataOf(object)['user_id'] !== undefined;
  return isOurs ? to('card', idOf(object['payment_method'])) : null;
}

/** The card is gone, or the bank has renewed it. */
const cardKinds = new Set(['payment_method.detached', 'payment_method.automatically_updated']);

/** The kinds of events about received money. */
const paidKinds = new Set([
  'checkout.session.completed',
  'checkout.session.async_payment_succeeded',
  'payment_intent.succeeded',
]);

/** Tells whether an event of this kind is about received money. */
export function isPaidKind(kind: string): boolean {
  return paidKinds.has(kind);
}

/**
 * The route of a payment of one of our top-ups, whatever happened to it. A payment that names only a user of ours
 * (spec: Events, `checkout.session.completed`) is credited to that user. We do not act on any other, such as an
 * invoice's.
 */
function routeOfPayment(kind: string, object: RoutedEvent['object']): EventRoute | null {
  const { topup_id: topupId, user_id: userId, source } = metadataOf(object);
  if (source === 'auto_topup' && typeof userId === 'string' && isId('usr', userId)) {
    return to('autoTopup', autoTopupWorkflowId(userId));
  }
  if (typeof topupId === 'string' && isId('top', topupId)) return to('topup', topupId);
  if (typeof userId !== 'string' || !isPaidKind(kind)) return null;
  return to('payment', paymentIdOf(object));
}

/** The payment that an event's object is, or refers to. */
export function paymentIdOf(object: RoutedEvent['object']): string | null {
  const id = object['object'] === 'checkout.session' ? idOf(object['payment_intent']) : object['id'];
  return typeof id === 'string' ? id : null;
}

function to(workflow: EventWorkflow, id: unknown): EventRoute | null {
  return typeof id === 'string' && id !== '' && id.length <= 255 ? { workflow, workflowId: id } : null;
}

function idOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'id' in value ? value.id : value;
}

function metadataOf(object: RoutedEvent['object']): Readonly<Record<string, unknown>> {
  const metadata = object['metadata'];
  return typeof metadata === 'object' && metadata !== null ? (metadata as Record<string, unknown>) : {};
}
