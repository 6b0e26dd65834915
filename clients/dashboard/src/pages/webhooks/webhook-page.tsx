import { isApiError, type Webhook } from '@gpu-rental/client';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { NotFound } from '../../app/not-found.js';
import { useToasts } from '../../app/toasts.js';
import { readableError } from '../../data/errors.js';
import { usePing, webhookQuery } from '../../data/webhooks.js';
import { errorTexts } from '../../texts/errors.js';
import { webhookTexts as t } from '../../texts/webhooks.js';
import { Button, buttonClasses } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { ArrowLeftIcon } from '../../ui/icons.js';
import { Page } from '../../ui/page.js';
import { ErrorNote, Skeleton } from '../../ui/states.js';
import { Time } from '../../ui/time.js';
import { ChangeWebhookDialog, RemoveWebhookDialog, RotateSecretDialog } from './change-dialogs.js';
import { Deliveries } from './deliveries.js';
import { StateNote } from './state-note.js';
import { typesInShort, WebhookState } from './webhook-state.js';

const route = getRouteApi('/app/webhooks/$webhookId');

/** One webhook: whether it works, what was sent to it, and what can be done about it. */
export function WebhookPage() {
  const { webhookId } = route.useParams();
  const { data: hook, error, refetch } = useQuery(webhookQuery(webhookId));
  if (isApiError(error, 'webhook_not_found')) return <NotFound />;
  if (hook) return <ShownWebhook hook={hook} />;
  return (
    <Page title={t.title}>
      {error ? <ErrorNote error={error} onRetry={() => void refetch()} /> : <LoadingWebhook />}
    </Page>
  );
}

type Doing = 'change' | 'rotate' | 'remove';

function ShownWebhook({ hook }: { readonly hook: Webhook }) {
  const [doing, setDoing] = useState<Doing>();
  const close = (): void => setDoing(undefined);
  return (
    <Page
      title={hook.description === '' ? hook.url : hook.description}
      {...(hook.description !== '' && {
        lead: <span className="font-mono text-[13px] break-all">{hook.url}</span>,
      })}
      actions={
        <>
          <Link to="/app/webhooks" className={buttonClasses('quiet')}>
            <ArrowLeftIcon />
            {t.back}
          </Link>
          {hook.state === 'enabled' && <PingButton hook={hook} />}
          <Button onClick={() => setDoing('change')}>{t.change}</Button>
          <Button onClick={() => setDoing('rotate')}>{t.rotate}</Button>
          <Button onClick={() => setDoing('remove')}>{t.remove}</Button>
        </>
      }
    >
      <StateNote hook={hook} />
      <About hook={hook} />
      <Deliveries hook={hook} />
      {doing === 'change' && <ChangeWebhookDialog hook={hook} onClose={close} />}
      {doing === 'rotate' && <RotateSecretDialog hook={hook} onClose={close} />}
      {doing === 'remove' && <RemoveWebhookDialog hook={hook} onClose={close} />}
    </Page>
  );
}

function PingButton({ hook }: { readonly hook: Webhook }) {
  const ping = usePing(hook.id);
  const toasts = useToasts();
  const send = (): void =>
    ping.mutate(undefined, {
      onSuccess: () => toasts.show({ tone: 'good', title: t.pinged }),
      onError: (error) => {
        const { message, requestId } = readableError(error);
        const text = requestId === undefined ? undefined : errorTexts.requestId(requestId);
        toasts.show({ tone: 'bad', title: message, ...(text !== undefined && { text }) });
      },
    });
  return (
    <Button isBusy={ping.isPending} onClick={send}>
      {t.ping}
    </Button>
  );
}

function About({ hook }: { readonly hook: Webhook }) {
  const { types, createdAt, lastSuccessAt, deliveredSeq } = hook;
  return (
    <Card title={t.about} aside={<WebhookState hook={hook} />}>
      <dl className="grid gap-x-6 gap-y-3 sm:grid-cols-2 lg:grid-cols-4">
        <Term name={t.lastSuccess}>{lastSuccessAt === null ? t.never : <Time at={lastSuccessAt} />}</Term>
        <Term name={t.deliveredSeq}>
          <span className="tabular">{t.eventNo(deliveredSeq)}</span>
        </Term>
        <Term name={t.madeAt}>
          <Time at={createdAt} />
        </Term>
        <Term name={t.types}>
          {types.length > 0 ? (
            <ul className="font-mono text-[13px] break-all">
              {types.map((type) => (
                <li key={type}>{type}</li>
              ))}
            </ul>
          ) : (
            typesInShort(hook)
          )}
        </Term>
      </dl>
    </Card>
  );
}

function Term({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-[13px] text-muted">{name}</dt>
      <dd className="mt-0.5">{children}</dd>
    </div>
  );
}

function LoadingWebhook() {
  return (
    <>
      <Skeleton className="h-32 w-full" />
      <Skeleton className="h-64 w-full" />
    </>
  );
}
