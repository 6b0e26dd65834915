import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { meQuery } from '../../data/account.js';
import { noticesQuery, useSwitchNotice, type Notice } from '../../data/notices.js';
import { noticeTexts as t } from '../../texts/notices.js';
import { Badge } from '../../ui/badge.js';
import { Spinner } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { CheckIcon } from '../../ui/icons.js';
import { Page } from '../../ui/page.js';
import { ErrorNote, Skeleton } from '../../ui/states.js';
import { Switch } from '../../ui/switch.js';

/** Which mails are sent: those that can be switched off, and those that can’t. */
export function NoticesPage() {
  const { data, error, refetch } = useQuery(noticesQuery);
  const { data: me } = useQuery(meQuery);
  return (
    <Page title={t.title} lead={[t.lead, me ? t.mailedTo(me.user.email) : ''].join(' ').trim()}>
      {data && <Notices notices={data.notices} />}
      {!data && (error ? <ErrorNote error={error} onRetry={() => void refetch()} /> : <LoadingNotices />)}
    </Page>
  );
}

function Notices({ notices }: { readonly notices: readonly Notice[] }) {
  return (
    <>
      <Card title={t.optional} isFlush>
        <ul className="divide-y divide-line">
          {notices
            .filter(({ canSwitchOff }) => canSwitchOff)
            .map((notice) => (
              <OptionalNotice key={notice.kind} notice={notice} />
            ))}
        </ul>
      </Card>
      <Card title={t.always} isFlush>
        <p className="border-b border-line px-4 py-3 text-[13px] text-muted">{t.alwaysText}</p>
        <ul className="divide-y divide-line">
          {notices
            .filter(({ canSwitchOff }) => !canSwitchOff)
            .map((notice) => (
              <li key={notice.kind} className="flex items-center gap-4 px-4 py-3">
                <NoticeText notice={notice} />
                <Badge tone="good">{t.on}</Badge>
              </li>
            ))}
        </ul>
      </Card>
    </>
  );
}

/** One switch. It shows what was asked for while that is saved, and afterwards what the service says. */
function OptionalNotice({ notice }: { readonly notice: Notice }) {
  const id = useId();
  const save = useSwitchNotice(notice.kind);
  const isOn = save.isPending ? save.variables : notice.on;
  return (
    <li className="px-4 py-3">
      <div className="flex items-center gap-4">
        <NoticeText notice={notice} id={id} />
        <span role="status" className="flex min-w-16 items-center justify-end gap-1.5 text-[13px] text-muted">
          {save.isPending && (
            <>
              <Spinner className="size-3.5" />
              {t.saving}
            </>
          )}
          {save.isSuccess && (
            <>
              <CheckIcon className="size-3.5 text-good" />
              {t.saved}
            </>
          )}
        </span>
        <Switch
          isOn={isOn}
          aria-labelledby={id}
          aria-busy={save.isPending}
          onChange={(on) => {
            if (!save.isPending) save.mutate(on);
          }}
        />
      </div>
      {save.isError && (
        <div className="mt-3">
          <ErrorNote title={t.notSaved} error={save.error} onRetry={() => save.mutate(save.variables)} />
        </div>
      )}
    </li>
  );
}

function NoticeText({ notice, id }: { readonly notice: Notice; readonly id?: string }) {
  // A kind of a newer service has no title here, and says all by its description.
  const title = Object.entries(t.kinds).find(([kind]) => kind === notice.kind)?.[1];
  return (
    <div className="min-w-0 flex-1">
      <p id={id} className="font-medium">
        {title ?? notice.description}
      </p>
      {title !== undefined && <p className="text-[13px] text-muted">{notice.description}</p>}
    </div>
  );
}

function LoadingNotices() {
  return (
    <>
      <Card title={t.optional}>
        <Skeleton className="h-72 w-full" />
      </Card>
      <Card title={t.always}>
        <Skeleton className="h-96 w-full" />
      </Card>
    </>
  );
}
