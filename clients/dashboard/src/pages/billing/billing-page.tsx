import { useSearch } from '@tanstack/react-router';
import { billingTexts } from '../../texts/billing.js';
import { shellTexts } from '../../texts/shell.js';
import { Page } from '../../ui/page.js';
import { Skeleton } from '../../ui/states.js';
import { AutoTopupCard } from './auto-topup-card.js';
import { BillingDetailsSection } from './billing-details.js';
import { BalanceStrip } from './balance-strip.js';
import { CardReturn } from './card-return.js';
import { ReturnedNote } from './returned-note.js';
import { SavedCardSection } from './saved-card.js';
import { TopupCard } from './topup-card.js';
import { TopupList } from './topup-list.js';
import { useFirstAnswers } from './use-first-answers.js';

/** Money in: what is there, how to add to it, and what was paid. */
export function BillingPage() {
  const { session, setup, amountCents } = useSearch({ from: '/app/billing' });
  const areThere = useFirstAnswers();
  return (
    <Page title={shellTexts.pages.billing} lead={billingTexts.lead}>
      {session !== undefined && <ReturnedNote how={session} />}
      {setup !== undefined && <CardReturn how={setup} />}
      {areThere ? <Parts amountCents={amountCents} /> : <PartsPending />}
    </Page>
  );
}

function Parts({ amountCents }: { readonly amountCents: number | undefined }) {
  return (
    <>
      <BalanceStrip />
      <div className="grid grid-cols-1 items-start gap-5 lg:grid-cols-2">
        <TopupCard initialCents={amountCents} />
        <div className="flex min-w-0 flex-col gap-5">
          <SavedCardSection />
          <AutoTopupCard />
        </div>
      </div>
      <TopupList />
      <BillingDetailsSection />
    </>
  );
}

function PartsPending() {
  return (
    <div role="status" className="flex flex-col gap-5">
      <span className="sr-only">{shellTexts.loading}</span>
      <Skeleton className="h-26 w-full" />
      <div className="grid grid-cols-1 gap-5 lg:grid-cols-2">
        <Skeleton className="h-78 w-full" />
        <Skeleton className="h-78 w-full" />
      </div>
      <Skeleton className="h-64 w-full" />
    </div>
  );
}
