import type { Event, EventType } from '@gpu-rental/client';
import type { QueryClient, QueryKey } from '@tanstack/react-query';

type KeysOf = (event: Event) => readonly QueryKey[];

const rental: KeysOf = ({ entityId }) => [
  ['rentals'],
  ['rental', entityId],
  ['charges', entityId],
  ['balance'],
  ['spending'],
  ['budget'],
  ['apiKeys'],
];
const topup: KeysOf = () => [['topups'], ['balance'], ['invoices']];
const reversal: KeysOf = (event) => [...topup(event), ['standing']];
const invoice: KeysOf = () => [['invoices'], ['balance']];
const card: KeysOf = () => [['card'], ['autoTopup']];
const apiKey: KeysOf = () => [['apiKeys']];
const webhook: KeysOf = ({ entityId }) => [['webhooks'], ['webhook', entityId], ['deliveries', entityId]];
const key: KeysOf = () => [['keys']];
const passkey: KeysOf = () => [['passkeys']];
const session: KeysOf = () => [['sessions']];

/** What is read anew when something happened; add the keys of what you show. */
const changedBy: Readonly<Partial<Record<EventType, KeysOf>>> = {
  'rental.created': rental,
  'rental.machine_found': rental,
  'rental.ssh_answered': rental,
  'rental.running': rental,
  'rental.warned': rental,
  'rental.kept_alive': rental,
  'rental.ports_closed': rental,
  'rental.changed': rental,
  'rental.stopping': rental,
  'rental.stopped': rental,
  'rental.failed': rental,
  'topup.succeeded': topup,
  'topup.failed': topup,
  'topup.expired': topup,
  'topup.reversed': reversal,
  'topup.reinstated': reversal,
  'wallet.credited': () => [['balance'], ['ledger'], ['statement'], ['spending']],
  'wallet.low': () => [['balance']],
  'wallet.exhausted': () => [['balance'], ['rentals']],
  'budget.reached': () => [['budget']],
  'auto_topup.succeeded': () => [['topups'], ['balance'], ['autoTopup']],
  'auto_topup.switched_off': () => [['autoTopup'], ['standing']],
  'card.saved': card,
  'card.removed': card,
  'invoice.opened': invoice,
  'invoice.paid': invoice,
  'invoice.voided': invoice,
  'invoice.uncollectible': invoice,
  'ssh_key.added': key,
  'ssh_key.removed': key,
  'passkey.added': passkey,
  'passkey.removed': passkey,
  'api_key.created': apiKey,
  'api_key.changed': apiKey,
  'api_key.revoked': apiKey,
  'webhook.created': webhook,
  'webhook.changed': webhook,
  'webhook.switched_off': webhook,
  'webhook.removed': webhook,
  'webhook.ping': webhook,
  'session.started': session,
  'session.ended': session,
};

/** Reads anew what an event has changed: what is on the screen now, the rest when it is looked at again. */
export function readAnewAfter(queryClient: QueryClient, event: Event): void {
  const keys = [...(changedBy[event.type]?.(event) ?? []), ['events'], ['audit']];
  for (const queryKey of keys) void queryClient.invalidateQueries({ queryKey, refetchType: refetchType() });
}

/** What does not change with the account, or is asked for by other means. */
const unmoved = new Set([
  'me',
  'families',
  'listings',
  'history',
  'templates',
  'billingConfig',
  'providers',
  'quote',
]);

/** Reads everything of the account anew: something may have happened that was not told. */
export function readAllAnew(queryClient: QueryClient): void {
  void queryClient.invalidateQueries({
    predicate: ({ queryKey: [noun] }) => !unmoved.has(String(noun)),
    refetchType: refetchType(),
  });
}

/** A tab that nobody looks at reads when somebody does. */
const refetchType = (): 'active' | 'none' => (document.hidden ? 'none' : 'active');
