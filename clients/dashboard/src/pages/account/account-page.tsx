import { useQuery } from '@tanstack/react-query';
import { Suspense, useState } from 'react';
import { closingQuery } from '../../data/closing.js';
import { accountTexts } from '../../texts/account.js';
import { shellTexts } from '../../texts/shell.js';
import { Button } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { lazyPart } from '../../ui/lazy-part.js';
import { Page } from '../../ui/page.js';
import { ErrorNote, Skeleton } from '../../ui/states.js';
import { ClosingCard } from './closing-card.js';
import { ExportCard } from './export-card.js';

const t = accountTexts.close;
const CloseDialog = lazyPart(() => import('./overlays/close-dialog.js'), 'CloseDialog');

/** The account as a whole: how to close it, or how far that is. */
export function AccountPage() {
  const { data: closing, error, refetch } = useQuery(closingQuery);
  return (
    <Page title={shellTexts.pages.account} lead={accountTexts.lead}>
      <ExportCard />
      {closing === undefined && error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {closing === undefined && !error && <Skeleton className="h-36 w-full" />}
      {closing && (closing.state === null ? <CloseCard /> : <ClosingCard closing={closing} />)}
    </Page>
  );
}

function CloseCard() {
  const [isOpen, setOpen] = useState(false);
  return (
    <Card title={t.title}>
      <div className="flex flex-col items-start gap-3">
        <p className="max-w-prose">{t.text}</p>
        <Button onClick={() => setOpen(true)}>{t.open}</Button>
      </div>
      <Suspense>{isOpen && <CloseDialog onClose={() => setOpen(false)} />}</Suspense>
    </Card>
  );
}
