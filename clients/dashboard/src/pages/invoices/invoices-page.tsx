import type { Invoice } from '@gpu-rental/client';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { invoiceStatuses, type ListedStatus } from '../../data/invoice-statuses.js';
import { invoicesQuery } from '../../data/invoices.js';
import { balanceQuery } from '../../data/wallet.js';
import { useBalance } from '../../live/hooks.js';
import { useServiceNow } from '../../live/service-clock.js';
import { invoicesTexts as t } from '../../texts/invoices.js';
import { shellTexts } from '../../texts/shell.js';
import { Callout } from '../../ui/badge.js';
import { Button, buttonClasses } from '../../ui/button.js';
import { Card, Stat } from '../../ui/card.js';
import { Money } from '../../ui/money.js';
import { More } from '../../ui/more.js';
import { Page } from '../../ui/page.js';
import { Segmented } from '../../ui/segmented.js';
import { EmptyState, ErrorNote, Skeleton } from '../../ui/states.js';
import { InvoiceRow } from './invoice-row.js';
import { isOverdue } from './invoice-state.js';

const MINUTE_MS = 60_000;

/** What is owed, and all invoices that were issued. */
export function InvoicesPage() {
  const { status } = useSearch({ from: '/app/invoices' });
  const navigate = useNavigate();
  const list = useInfiniteQuery(invoicesQuery(status));
  const invoices = list.data?.pages.flat();
  // Whatever part of the list is shown.
  const open = useInfiniteQuery(invoicesQuery('open')).data?.pages.flat();
  const nowMs = useServiceNow(MINUTE_MS);
  const show = (chosen: ListedStatus | undefined): void =>
    void navigate({
      to: '/app/invoices',
      search: chosen === undefined ? {} : { status: chosen },
      replace: true,
    });
  return (
    <Page title={shellTexts.pages.invoices} lead={t.lead}>
      {open?.some((invoice) => isOverdue(invoice, nowMs)) === true && (
        <Callout tone="bad" title={t.overdueTitle}>
          {t.overdue}
        </Callout>
      )}
      <Owed />
      <div className="overflow-x-auto">
        <Segmented
          label={t.filter}
          value={status ?? 'all'}
          options={(['all', ...invoiceStatuses] as const).map((value) => ({
            value,
            label: t.filters[value],
          }))}
          onChange={(value) => show(value === 'all' ? undefined : value)}
          className="min-w-max whitespace-nowrap sm:w-fit"
        />
      </div>
      <Card isFlush>
        {list.isPending && <Skeleton className="m-4 h-40" />}
        {invoices && (
          <InvoiceList invoices={invoices} status={status} onShowAll={() => show(undefined)} nowMs={nowMs} />
        )}
        <More pages={list} label={t.more} isFoot />
      </Card>
    </Page>
  );
}

/** What is owed in all, as the service counts it: offers are not part of it. */
function Owed() {
  const { error, refetch } = useQuery(balanceQuery);
  const balance = useBalance();
  if (error && balance === undefined) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (balance === undefined) return <Skeleton className="h-24 w-full" />;
  const { openInvoicesCents, openInvoiceCount } = balance;
  return (
    <Card>
      <dl>
        <Stat
          label={t.owedTitle}
          value={
            <Money
              cents={openInvoicesCents}
              className={openInvoicesCents > 0 ? 'text-2xl text-bad' : 'text-2xl'}
            />
          }
          note={openInvoiceCount === 0 ? t.nothingOwed : t.owed(openInvoiceCount.toString())}
        />
      </dl>
    </Card>
  );
}

interface InvoiceListProps {
  readonly invoices: readonly Invoice[];
  readonly status: ListedStatus | undefined;
  readonly onShowAll: () => void;
  readonly nowMs: number;
}

function InvoiceList({ invoices, status, onShowAll, nowMs }: InvoiceListProps) {
  if (invoices.length === 0) {
    return status === undefined ? (
      <EmptyState
        title={t.empty}
        actions={
          <Link to="/app/billing" className={buttonClasses()}>
            {t.toBilling}
          </Link>
        }
      >
        {t.emptyWhy}
      </EmptyState>
    ) : (
      <EmptyState title={t.emptyFiltered} actions={<Button onClick={onShowAll}>{t.showAll}</Button>} />
    );
  }
  return (
    <ul className="divide-y divide-line">
      {invoices.map((invoice) => (
        <InvoiceRow key={invoice.id} invoice={invoice} nowMs={nowMs} />
      ))}
    </ul>
  );
}
