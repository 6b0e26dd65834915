import type { components } from '@gpu-rental/client';

export type WebhookType = NonNullable<components['schemas']['AddWebhook']['types']>[number];

/** The types that can be chosen. `feed.resync` is sent in any case: it tells that events are missing. */
export type ChosenType = Exclude<WebhookType, 'feed.resync'>;

export type TypeGroup = 'machines' | 'money' | 'account' | 'access';

const groupOf: Readonly<Record<string, TypeGroup>> = {
  rental: 'machines',
  topup: 'money',
  wallet: 'money',
  budget: 'money',
  auto_topup: 'money',
  card: 'money',
  invoice: 'money',
  ssh_key: 'account',
  webhook: 'account',
  session: 'access',
  passkey: 'access',
  api_key: 'access',
};

/** Puts types into the groups in which they are chosen, in their order. */
export function groupTypes(
  types: readonly ChosenType[],
): readonly (readonly [TypeGroup, readonly ChosenType[]])[] {
  const groups: readonly TypeGroup[] = ['machines', 'money', 'account', 'access'];
  return groups.map((group) => [group, types.filter((type) => groupOf[type.split('.')[0] ?? ''] === group)]);
}
