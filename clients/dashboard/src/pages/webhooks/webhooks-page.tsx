import type { Webhook } from '@gpu-rental/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { webhooksQuery } from '../../data/webhooks.js';
import { webhookTexts as t } from '../../texts/webhooks.js';
import { Button } from '../../ui/button.js';
import { ChevronRightIcon, PlusIcon } from '../../ui/icons.js';
import { ListCard } from '../../ui/list-card.js';
import { Page } from '../../ui/page.js';
import { EmptyState, ErrorNote, Skeleton } from '../../ui/states.js';
import { Time } from '../../ui/time.js';
import { AddWebhookDialog } from './add-dialog.js';
import { typesInShort, WebhookState } from './webhook-state.js';

/** Where events are delivered. */
export function WebhooksPage() {
  const [isAdding, setAdding] = useState(false);
  return (
    <Page
      title={t.title}
      lead={t.lead}
      actions={
        <Button look="primary" onClick={() => setAdding(true)}>
          <PlusIcon />
          {t.add}
        </Button>
      }
    >
      <Webhooks onAdd={() => setAdding(true)} />
      {isAdding && <AddWebhookDialog onClose={() => setAdding(false)} />}
    </Page>
  );
}

function Webhooks({ onAdd }: { readonly onAdd: () => void }) {
  const { data: hooks, error, refetch } = useQuery(webhooksQuery);
  if (hooks === undefined && error) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  return (
    <ListCard
      title={t.list}
      items={hooks}
      count={t.count}
      empty={
        <EmptyState title={t.empty} actions={<Button onClick={onAdd}>{t.add}</Button>}>
          {t.emptyText}
        </EmptyState>
      }
      skeleton={<WebhookSkeleton />}
    >
      {(hook) => <WebhookRow key={hook.id} hook={hook} />}
    </ListCard>
  );
}

function WebhookRow({ hook }: { readonly hook: Webhook }) {
  const { id, url, description, lastSuccessAt } = hook;
  return (
    <li>
      <Link
        to="/app/webhooks/$webhookId"
        params={{ webhookId: id }}
        className="flex items-center gap-3 px-4 py-3 hover:bg-sunken"
      >
        <span className="grid min-w-0 flex-1 gap-x-6 gap-y-1.5 sm:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
          <span className="min-w-0">
            {description !== '' && <span className="block font-medium break-words">{description}</span>}
            <span className="block font-mono text-[13px] break-all text-soft">{url}</span>
          </span>
          <span className="flex min-w-0 flex-col items-start gap-1 text-[13px] text-muted sm:items-end">
            <WebhookState hook={hook} />
            <span className="sm:text-right">{typesInShort(hook)}</span>
            <span>
              {t.lastSuccess} {lastSuccessAt === null ? t.neverYet : <Time at={lastSuccessAt} />}
            </span>
          </span>
        </span>
        <ChevronRightIcon className="size-4 text-muted" />
      </Link>
    </li>
  );
}

function WebhookSkeleton() {
  return (
    <div className="flex flex-wrap justify-between gap-3 px-4 py-3">
      <Skeleton className="h-11 w-full max-w-96" />
      <Skeleton className="h-11 w-48" />
    </div>
  );
}
