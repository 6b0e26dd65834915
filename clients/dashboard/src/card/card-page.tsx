import { isApiError } from '@gpu-rental/client';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { noteCard } from '../data/before-leaving.js';
import { beginCardSetupQuery } from '../data/card.js';
import { cardTexts as t } from '../texts/card.js';
import { shellTexts } from '../texts/shell.js';
import { Callout } from '../ui/badge.js';
import { buttonClasses, Spinner } from '../ui/button.js';
import { Card } from '../ui/card.js';
import { ArrowLeftIcon } from '../ui/icons.js';
import { ErrorNote, Skeleton } from '../ui/states.js';
import { CardForm } from './card-form.js';

const BILLING = '/app/billing';

/** The document on which a card is entered: the only one that loads the processor's script. */
export function CardPage() {
  useEffect(() => {
    document.title = shellTexts.documentTitle(t.title);
  }, []);
  return (
    <div className="mx-auto flex min-h-dvh w-full max-w-lg flex-col gap-5 px-4 py-6 sm:py-10">
      <header className="flex items-center justify-between gap-3">
        <a href="/app" className="font-semibold">
          {shellTexts.product}
        </a>
        <a href={BILLING} className={buttonClasses('quiet', 'small')}>
          <ArrowLeftIcon />
          {t.back}
        </a>
      </header>
      <main className="flex flex-col gap-5">
        <div>
          <h1 className="text-xl font-semibold tracking-tight sm:text-2xl">{t.title}</h1>
          <p className="mt-1 text-muted">{t.lead}</p>
        </div>
        <Card>
          <CardSetup />
        </Card>
        <p className="text-[13px] text-muted">{t.trust}</p>
      </main>
    </div>
  );
}

/** Asks the service how a card is taken here: in the processor's form, or on a page that stands in for it. */
function CardSetup() {
  const { data, error, refetch, isFetching } = useQuery(beginCardSetupQuery);
  const pageUrl = data?.setup.pageUrl ?? null;
  useEffect(() => {
    if (data === undefined) return;
    noteCard(data.before ?? '');
    if (pageUrl !== null) location.replace(pageUrl);
  }, [data, pageUrl]);
  if (error && !isFetching) return <SetupError error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton className="h-60 w-full" />;
  if (pageUrl !== null) {
    return (
      <div role="status" className="flex flex-col items-start gap-3">
        <p className="flex items-center gap-2">
          <Spinner />
          {t.elsewhere}
        </p>
        <a href={pageUrl} className={buttonClasses()}>
          {t.goThere}
        </a>
      </div>
    );
  }
  return (
    <CardForm
      clientSecret={data.setup.clientSecret}
      publishableKey={data.setup.publishableKey}
      returnUrl={new URL(BILLING, location.origin).toString()}
      onSaved={() => location.assign(`${BILLING}?setup=succeeded`)}
    />
  );
}

function SetupError({ error, onRetry }: { readonly error: unknown; readonly onRetry: () => void }) {
  if (isApiError(error, 'unauthorized')) {
    return (
      <Callout
        role="alert"
        tone="warn"
        title={t.signInTitle}
        actions={
          <a href={`/login?returnTo=${encodeURIComponent(BILLING)}`} className={buttonClasses('primary')}>
            {t.goToSignIn}
          </a>
        }
      >
        {t.signIn}
      </Callout>
    );
  }
  if (isApiError(error, 'billing_disabled')) {
    return (
      <Callout role="alert" tone="warn" title={t.disabledTitle}>
        {t.disabled}
      </Callout>
    );
  }
  return <ErrorNote error={error} onRetry={onRetry} />;
}
