import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { NextStep } from '../../app/next-step.js';
import { keysQuery, useRemoveKey } from '../../data/keys.js';
import { keyTexts as t } from '../../texts/keys.js';
import { Badge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { ConfirmDialog } from '../../ui/confirm-dialog.js';
import { CopyButton } from '../../ui/copy-button.js';
import { PlusIcon } from '../../ui/icons.js';
import { lazyPart } from '../../ui/lazy-part.js';
import { ListCard } from '../../ui/list-card.js';
import { Page } from '../../ui/page.js';
import { EmptyState, ErrorNote, Skeleton } from '../../ui/states.js';
import { Time } from '../../ui/time.js';

const route = getRouteApi('/app/keys');
// Loaded when it is first asked for.
const AddKeyDialog = lazyPart(() => import('./overlays/add-key-dialog.js'), 'AddKeyDialog');

/** The keys that enter machines: added by pasting or by making a pair, removed after a question. */
export function KeysPage() {
  const navigate = route.useNavigate();
  const { add: isAdding = false } = route.useSearch();
  const [added, setAdded] = useState<string>();
  const setAdding = (add: boolean): void => void navigate({ search: add ? { add } : {}, replace: true });
  const add = (): void => setAdding(true);
  return (
    <Page
      title={t.title}
      lead={t.lead}
      actions={
        <Button look="primary" onClick={add}>
          <PlusIcon />
          {t.add}
        </Button>
      }
    >
      {added !== undefined && <NextStep title={t.addedTitle(added)}>{t.addedText}</NextStep>}
      <KeyList onAdd={add} />
      <Suspense>{isAdding && <AddKeyDialog onClose={() => setAdding(false)} onAdded={setAdded} />}</Suspense>
    </Page>
  );
}

function KeyList({ onAdd }: { readonly onAdd: () => void }) {
  const { data: keys, error, refetch } = useQuery(keysQuery);
  const [removing, setRemoving] = useState<ListedKey>();
  if (keys === undefined && error) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  return (
    <>
      <ListCard
        title={t.list}
        items={keys}
        count={t.count}
        empty={
          <EmptyState title={t.empty} actions={<Button onClick={onAdd}>{t.add}</Button>}>
            {t.emptyText}
          </EmptyState>
        }
        skeleton={<KeySkeleton />}
      >
        {(key) => <KeyRow key={key.id} listed={key} onRemove={() => setRemoving(key)} />}
      </ListCard>
      {removing && <RemoveKeyDialog listed={removing} onClose={() => setRemoving(undefined)} />}
    </>
  );
}

interface ListedKey {
  readonly id: string;
  readonly name: string;
  readonly fingerprint: string;
  readonly publicKey: string;
  readonly byKey: boolean;
  readonly createdAt: string;
}

function KeyRow({ listed, onRemove }: { readonly listed: ListedKey; readonly onRemove: () => void }) {
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3">
      <div className="min-w-0 flex-[1_1_20rem]">
        <p className="flex flex-wrap items-center gap-x-2 font-medium break-words">
          {listed.name}
          {listed.byKey && <Badge>{t.byKey}</Badge>}
        </p>
        <p className="font-mono text-[13px] break-all text-muted">
          <span className="sr-only">{t.fingerprint} </span>
          {listed.fingerprint}
        </p>
      </div>
      <p className="flex-1 text-[13px] whitespace-nowrap text-muted sm:flex-none">
        {t.added} <Time at={listed.createdAt} />
      </p>
      <div className="flex items-center gap-1">
        <CopyButton text={listed.publicKey} label={t.copyPublicKey(listed.name)} />
        <Button size="small" aria-label={t.removeNamed(listed.name)} onClick={onRemove}>
          {t.remove}
        </Button>
      </div>
    </li>
  );
}

function RemoveKeyDialog({ listed, onClose }: { readonly listed: ListedKey; readonly onClose: () => void }) {
  const remove = useRemoveKey();
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={t.removeTitle(listed.name)}
      description={t.removeText}
      confirm={t.remove}
      onConfirm={() => remove.mutate(listed.id, { onSuccess: onClose })}
      isBusy={remove.isPending}
      error={remove.error}
    >
      <p className="font-mono text-[13px] break-all text-muted">{listed.fingerprint}</p>
    </ConfirmDialog>
  );
}

function KeySkeleton() {
  return (
    <div className="flex flex-wrap items-center gap-4 px-4 py-3">
      <div className="flex flex-[1_1_20rem] flex-col gap-1.5">
        <Skeleton className="h-4 w-32" />
        <Skeleton className="h-4 w-full max-w-96" />
      </div>
      <Skeleton className="h-8 w-20" />
    </div>
  );
}
