import type { Passkey } from '@gpu-rental/client';
import { useQuery } from '@tanstack/react-query';
import { Suspense, useState } from 'react';
import { passkeysQuery } from '../../data/passkeys.js';
import { knowsPasskeys } from '../../data/webauthn.js';
import { useAgo } from '../../live/ago.js';
import { passkeyTexts as t } from '../../texts/passkeys.js';
import { Badge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { lazyPart } from '../../ui/lazy-part.js';
import { ListCard } from '../../ui/list-card.js';
import { EmptyState, ErrorNote, Skeleton } from '../../ui/states.js';
import { Time } from '../../ui/time.js';
import type { PasskeyAct } from './overlays/passkey-dialogs.js';

// Loaded when it is first asked for.
const PasskeyDialog = lazyPart(() => import('./overlays/passkey-dialogs.js'), 'PasskeyDialog');

/** The passkeys of the user: added, named and removed. */
export function Passkeys() {
  const { data: passkeys, error, refetch } = useQuery(passkeysQuery);
  const [asked, setAsked] = useState<PasskeyAct>();
  if (passkeys === undefined && error) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  const add = (): void => setAsked({ act: 'add' });
  const isEmpty = passkeys === undefined || passkeys.length === 0;
  return (
    <>
      <ListCard
        title={t.list}
        items={passkeys}
        empty={<NoPasskeys onAdd={add} />}
        skeleton={<PasskeySkeleton />}
        foot={!isEmpty && <AddFoot onAdd={add} />}
      >
        {(passkey) => <PasskeyRow key={passkey.id} passkey={passkey} onAct={setAsked} />}
      </ListCard>
      <Suspense>{asked && <PasskeyDialog asked={asked} onClose={() => setAsked(undefined)} />}</Suspense>
    </>
  );
}

interface AddProps {
  readonly onAdd: () => void;
}

function NoPasskeys({ onAdd }: AddProps) {
  if (!knowsPasskeys()) return <EmptyState title={t.empty}>{t.unsupported}</EmptyState>;
  return (
    <EmptyState title={t.empty} actions={<Button onClick={onAdd}>{t.add}</Button>}>
      {t.emptyText}
    </EmptyState>
  );
}

function AddFoot({ onAdd }: AddProps) {
  return (
    <div className="border-t border-line px-4 py-3 text-[13px] text-muted">
      {knowsPasskeys() ? <Button onClick={onAdd}>{t.add}</Button> : t.unsupported}
    </div>
  );
}

interface RowProps {
  readonly passkey: Passkey;
  readonly onAct: (asked: PasskeyAct) => void;
}

function PasskeyRow({ passkey, onAct }: RowProps) {
  const { name, synced, createdAt, lastUsedAt } = passkey;
  return (
    <li className="flex flex-wrap items-center gap-x-6 gap-y-2 px-4 py-3.5">
      <p className="flex min-w-0 flex-[1_1_12rem] flex-wrap items-center gap-2">
        <span className="min-w-0 font-medium break-words">{name}</span>
        {synced && <Badge>{t.synced}</Badge>}
      </p>
      <dl className="grid flex-[1_1_16rem] grid-cols-[auto_minmax(0,1fr)] gap-x-3 text-[13px]">
        <dt className="text-muted">{t.lastUsed}</dt>
        <dd>{lastUsedAt === null ? t.never : <Used at={lastUsedAt} />}</dd>
        <dt className="text-muted">{t.addedOn}</dt>
        <dd>
          <Time at={createdAt} />
        </dd>
      </dl>
      <div className="flex items-center gap-1">
        <Button
          size="small"
          aria-label={t.renameNamed(name)}
          onClick={() => onAct({ act: 'rename', passkey })}
        >
          {t.rename}
        </Button>
        <Button
          size="small"
          aria-label={t.removeNamed(name)}
          onClick={() => onAct({ act: 'remove', passkey })}
        >
          {t.remove}
        </Button>
      </div>
    </li>
  );
}

function Used({ at }: { readonly at: string }) {
  return (
    <>
      <Time at={at} /> <span className="inline-block text-muted">({useAgo(at, 60_000)})</span>
    </>
  );
}

function PasskeySkeleton() {
  return (
    <div className="flex flex-wrap gap-6 px-4 py-3.5">
      <Skeleton className="h-8 w-48" />
      <Skeleton className="h-8 w-64" />
    </div>
  );
}
