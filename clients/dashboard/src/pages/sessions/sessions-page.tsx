import type { OpenSession } from '@gpu-rental/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useToasts } from '../../app/toasts.js';
import { sessionsQuery, useEndOtherSessions, useEndSession } from '../../data/sessions.js';
import { useAgo } from '../../live/ago.js';
import { sessionTexts as t } from '../../texts/sessions.js';
import { Badge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { ConfirmDialog } from '../../ui/confirm-dialog.js';
import { DeviceIcon } from '../../ui/icons.js';
import { ListCard } from '../../ui/list-card.js';
import { More } from '../../ui/more.js';
import { Page } from '../../ui/page.js';
import { Skeleton } from '../../ui/states.js';
import { Time } from '../../ui/time.js';
import { Passkeys } from './passkeys.js';

/** Where the user is signed in, each of which can be ended. */
export function SessionsPage() {
  const pages = useInfiniteQuery(sessionsQuery);
  const [isEndingOthers, setEndingOthers] = useState(false);
  const sessions = pages.data?.pages.flatMap((page) => page.sessions);
  const hasOthers = sessions?.some(({ isCurrent }) => !isCurrent) === true || pages.hasNextPage;
  return (
    <Page
      title={t.title}
      lead={t.lead}
      actions={hasOthers && <Button onClick={() => setEndingOthers(true)}>{t.endOthers}</Button>}
    >
      {(sessions ?? !pages.error) && <SessionList sessions={sessions} isOnlyThis={!hasOthers} />}
      <More pages={pages} />
      {/* A list above that is on its way would move it. */}
      {(sessions ?? pages.error) && <Passkeys />}
      {isEndingOthers && <EndOthersDialog onClose={() => setEndingOthers(false)} />}
    </Page>
  );
}

interface SessionListProps {
  /** Undefined while they are on their way. */
  readonly sessions: readonly OpenSession[] | undefined;
  readonly isOnlyThis: boolean;
}

function SessionList({ sessions, isOnlyThis }: SessionListProps) {
  const [ending, setEnding] = useState<OpenSession>();
  return (
    <>
      <ListCard
        title={t.list}
        items={sessions}
        skeleton={<SessionSkeleton />}
        foot={
          isOnlyThis && <p className="border-t border-line px-4 py-3 text-[13px] text-muted">{t.onlyThis}</p>
        }
      >
        {(session) => <SessionRow key={session.id} session={session} onEnd={() => setEnding(session)} />}
      </ListCard>
      {ending && <EndSessionDialog session={ending} onClose={() => setEnding(undefined)} />}
    </>
  );
}

interface SessionRowProps {
  readonly session: OpenSession;
  readonly onEnd: () => void;
}

function SessionRow({ session, onEnd }: SessionRowProps) {
  const { device, address, lastUsedAt, createdAt, expiresAt, isCurrent } = session;
  return (
    <li className="flex items-start gap-3 px-4 py-3.5">
      <DeviceIcon className="mt-0.5 size-5 text-muted" />
      <div className="grid min-w-0 flex-1 gap-x-6 gap-y-1 md:grid-cols-2">
        <div className="min-w-0">
          <p className="flex flex-wrap items-center gap-2">
            <span className="min-w-0 font-medium break-words">{device ?? t.unknownDevice}</span>
            {isCurrent && <Badge tone="good">{t.thisOne}</Badge>}
          </p>
          <p className="font-mono text-[13px] break-all text-muted">{address ?? t.unknownAddress}</p>
        </div>
        <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 text-[13px]">
          <dt className="text-muted">{t.lastUsed}</dt>
          <dd>
            <Time at={lastUsedAt} />{' '}
            <span className="inline-block text-muted">({useAgo(lastUsedAt, 60_000)})</span>
          </dd>
          <dt className="text-muted">{t.signedIn}</dt>
          <dd>
            <Time at={createdAt} />
          </dd>
          <dt className="text-muted">{t.ends}</dt>
          <dd>
            <Time at={expiresAt} isDay />
          </dd>
        </dl>
      </div>
      <div className="flex w-14 shrink-0 justify-end">
        {!isCurrent && (
          <Button size="small" aria-label={t.endNamed(device ?? t.unknownDevice)} onClick={onEnd}>
            {t.end}
          </Button>
        )}
      </div>
    </li>
  );
}

interface EndSessionDialogProps {
  readonly session: OpenSession;
  readonly onClose: () => void;
}

function EndSessionDialog({ session, onClose }: EndSessionDialogProps) {
  const end = useEndSession();
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={t.endTitle(session.device ?? t.unknownDevice)}
      description={t.endText}
      confirm={t.end}
      onConfirm={() => end.mutate(session.id, { onSuccess: onClose })}
      isBusy={end.isPending}
      error={end.error}
    >
      {session.address !== null && <p className="text-muted">{t.from(session.address)}</p>}
    </ConfirmDialog>
  );
}

function EndOthersDialog({ onClose }: { readonly onClose: () => void }) {
  const end = useEndOtherSessions();
  const toasts = useToasts();
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={t.endOthersTitle}
      description={t.endOthersText}
      confirm={t.endOthers}
      onConfirm={() =>
        end.mutate(undefined, {
          onSuccess: ({ ended }) => {
            toasts.show({ tone: 'good', title: t.ended(ended) });
            onClose();
          },
        })
      }
      isBusy={end.isPending}
      error={end.error}
    />
  );
}

function SessionSkeleton() {
  return (
    <div className="flex flex-wrap gap-6 px-4 py-3.5">
      <Skeleton className="h-14 w-48" />
      <Skeleton className="h-14 w-64" />
    </div>
  );
}
