import type { ApiKey } from '@gpu-rental/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { apiKeysQuery } from '../../data/api-keys.js';
import { useServiceNow } from '../../live/service-clock.js';
import { apiKeyTexts as t } from '../../texts/api-keys.js';
import { Button } from '../../ui/button.js';
import { PlusIcon } from '../../ui/icons.js';
import { ListCard } from '../../ui/list-card.js';
import { More } from '../../ui/more.js';
import { Page } from '../../ui/page.js';
import { EmptyState, Skeleton } from '../../ui/states.js';
import { ApiKeyRow } from './api-key-row.js';
import { ChangeApiKeyDialog } from './change-dialog.js';
import { CreateApiKeyDialog } from './create-dialog.js';
import { RevokeApiKeyDialog } from './revoke-dialog.js';
import { apiKeyState, type ApiKeyState } from './state.js';

/** The keys of programs: made with scopes and a cap, changed, revoked. */
export function ApiKeysPage() {
  const [isCreating, setCreating] = useState(false);
  return (
    <Page
      title={t.title}
      lead={t.lead}
      actions={
        <Button look="primary" onClick={() => setCreating(true)}>
          <PlusIcon />
          {t.create}
        </Button>
      }
    >
      <ApiKeys onCreate={() => setCreating(true)} />
      {isCreating && <CreateApiKeyDialog onClose={() => setCreating(false)} />}
    </Page>
  );
}

function ApiKeys({ onCreate }: { readonly onCreate: () => void }) {
  const pages = useInfiniteQuery(apiKeysQuery);
  return (
    <>
      {(pages.data ?? !pages.error) && (
        <KeyLists keys={pages.data?.pages.flatMap(({ apiKeys }) => apiKeys)} onCreate={onCreate} />
      )}
      <More pages={pages} />
    </>
  );
}

interface Doing {
  readonly apiKey: ApiKey;
  readonly what: 'change' | 'revoke';
}

interface KeyListsProps {
  /** Undefined while they are on their way. */
  readonly keys: readonly ApiKey[] | undefined;
  readonly onCreate: () => void;
}

function KeyLists({ keys, onCreate }: KeyListsProps) {
  const nowMs = useServiceNow(60_000);
  const [doing, setDoing] = useState<Doing>();
  const close = (): void => setDoing(undefined);
  const states = keys?.map((apiKey) => ({ apiKey, state: apiKeyState(apiKey, nowMs) }));
  const ended = states?.filter(({ state }) => hasEnded(state)) ?? [];
  return (
    <>
      <ListCard
        title={t.live}
        items={states?.filter(({ state }) => !hasEnded(state))}
        count={t.count}
        empty={
          <EmptyState title={t.empty} actions={<Button onClick={onCreate}>{t.create}</Button>}>
            {t.emptyText}
          </EmptyState>
        }
        skeleton={<KeySkeleton />}
      >
        {({ apiKey, state }) => (
          <ApiKeyRow
            key={apiKey.id}
            apiKey={apiKey}
            state={state}
            onChange={() => setDoing({ apiKey, what: 'change' })}
            onRevoke={() => setDoing({ apiKey, what: 'revoke' })}
          />
        )}
      </ListCard>
      {ended.length > 0 && (
        <ListCard title={t.ended} items={ended} count={t.count}>
          {({ apiKey, state }) => <ApiKeyRow key={apiKey.id} apiKey={apiKey} state={state} />}
        </ListCard>
      )}
      {doing?.what === 'change' && <ChangeApiKeyDialog apiKey={doing.apiKey} onClose={close} />}
      {doing?.what === 'revoke' && <RevokeApiKeyDialog apiKey={doing.apiKey} onClose={close} />}
    </>
  );
}

const hasEnded = (state: ApiKeyState): boolean => state === 'expired' || state === 'revoked';

function KeySkeleton() {
  return (
    <div className="grid gap-4 p-4 lg:grid-cols-4">
      <Skeleton className="h-12 w-48" />
      <Skeleton className="h-12 w-full" />
      <Skeleton className="h-12 w-full" />
      <Skeleton className="h-8 w-32 lg:justify-self-end" />
    </div>
  );
}
