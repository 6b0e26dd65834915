import { lookUp, type Webhook, wordOf } from '@gpu-rental/client';
import { webhookTexts as t } from '../../texts/webhooks.js';
import { Badge } from '../../ui/badge.js';

const tones = { pending: 'info', enabled: 'good', switched_off: 'bad' } as const;

/** What a webhook is by now, in a word. */
export function WebhookState({ hook }: { readonly hook: Pick<Webhook, 'state' | 'failingSince'> }) {
  const { state, failingSince } = hook;
  if (state === 'enabled' && failingSince !== null) return <Badge tone="warn">{t.failing}</Badge>;
  return <Badge tone={lookUp(tones, state) ?? 'neutral'}>{wordOf(t.states, state)}</Badge>;
}

/** Which events it gets, in short. */
export function typesInShort({ types }: Pick<Webhook, 'types'>): string {
  return types.length === 0 ? t.allTypes : t.someTypes(types.length);
}
