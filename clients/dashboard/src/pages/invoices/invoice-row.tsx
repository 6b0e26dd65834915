import { isPayable, type Invoice, lookUp, wordOf } from '@gpu-rental/client';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { readPayUrl } from '../../data/invoices.js';
import { useMutation } from '../../data/use-mutation.js';
import { money } from '../../format/money.js';
import { date } from '../../format/time.js';
import { invoicesTexts as t } from '../../texts/invoices.js';
import { Badge, Callout, type Tone } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { Money } from '../../ui/money.js';
import { ErrorNote } from '../../ui/states.js';
import { useGoneBack } from '../../ui/use-gone-back.js';
import { isOffer, isOverdue, whyOf } from './invoice-state.js';

interface InvoiceRowProps {
  readonly invoice: Invoice;
  readonly nowMs: number;
}

/** One invoice: why it was issued, what it is for, and what can be done with it. */
export function InvoiceRow({ invoice, nowMs }: InvoiceRowProps) {
  const { id, reason, amountCents, lineItems, rentalId } = invoice;
  return (
    <li className="flex flex-col gap-3 px-4 py-3.5">
      <div className="grid grid-cols-[minmax(0,1fr)_auto] gap-x-4 gap-y-1">
        <div className="min-w-0">
          <p className="flex flex-wrap items-center gap-x-2 gap-y-1 font-medium">
            {wordOf(t.reasons, reason)}
            <State invoice={invoice} nowMs={nowMs} />
          </p>
          <p className="text-[13px] text-muted">{whyOf(invoice)}</p>
          <p className="text-[13px] text-muted tabular">
            <Days invoice={invoice} />
          </p>
        </div>
        <Money cents={amountCents} className="text-right text-base font-semibold" />
      </div>
      <ul aria-label={t.lines} className="flex flex-col gap-0.5 text-[13px] text-soft">
        {lineItems.map((line) => (
          <li key={line.id} className="flex justify-between gap-4">
            <span className="min-w-0 wrap-anywhere">{line.description}</span>
            {lineItems.length > 1 && <Money cents={line.amountCents} />}
          </li>
        ))}
      </ul>
      <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-[13px]">
          <span className="font-mono text-xs break-all text-muted">{id}</span>
          {rentalId !== null && (
            <Link to="/app/rentals/$rentalId" params={{ rentalId }} className="underline">
              {t.rental}
            </Link>
          )}
          <Document url={invoice.invoicePdfUrl} text={t.pdf} />
          <Document url={invoice.receiptUrl} text={t.receipt} />
        </div>
        {isPayable(invoice) && <PayButton invoice={invoice} />}
      </div>
    </li>
  );
}

const tones: Readonly<Record<Invoice['status'], Tone>> = {
  draft: 'neutral',
  open: 'warn',
  paid: 'good',
  void: 'neutral',
  uncollectible: 'bad',
};

function State({ invoice, nowMs }: InvoiceRowProps) {
  if (isOverdue(invoice, nowMs)) return <Badge tone="bad">{t.overdueState}</Badge>;
  return <Badge tone={lookUp(tones, invoice.status) ?? 'neutral'}>{wordOf(t.states, invoice.status)}</Badge>;
}

function Days({ invoice: { createdAt, dueAt, paidAt, voidedAt, status } }: { readonly invoice: Invoice }) {
  const days = [
    t.issued(date(createdAt)),
    status === 'open' && dueAt !== null && t.due(date(dueAt)),
    paidAt !== null && t.paidOn(date(paidAt)),
    voidedAt !== null && t.voidedOn(date(voidedAt)),
  ].filter((day) => day !== false);
  return <>{days.join(' · ')}</>;
}

function Document({ url, text }: { readonly url: string | null; readonly text: string }) {
  if (url === null) return null;
  return (
    <a href={url} target="_blank" rel="noreferrer" className="underline">
      {text}
    </a>
  );
}

/** Asks for the page at the moment of the press, since its address changes, and goes there. */
function PayButton({ invoice }: { readonly invoice: Invoice }) {
  const { id, amountCents } = invoice;
  const client = useQueryClient();
  const open = useMutation({
    mutationFn: () => readPayUrl(id),
    onSuccess: (url) => {
      if (url !== null) return;
      for (const noun of ['invoices', 'balance']) void client.invalidateQueries({ queryKey: [noun] });
    },
  });
  // Whoever has gone to another page meanwhile stays there.
  const pay = (): void =>
    open.mutate(undefined, { onSuccess: (url) => url !== null && location.assign(url) });
  useGoneBack(open.reset);
  const hasNoPage = open.isSuccess && open.data === null;
  return (
    <div className="flex min-w-0 flex-col items-stretch gap-2 sm:items-end">
      {!hasNoPage && (
        <Button
          look={isOffer(invoice) ? 'secondary' : 'primary'}
          size="small"
          isBusy={open.isPending || (open.isSuccess && !hasNoPage)}
          onClick={pay}
        >
          {open.isPending || open.isSuccess ? t.opening : t.payOf(money(amountCents))}
        </Button>
      )}
      {hasNoPage && (
        <Callout role="status" tone="info" title={t.nothingToPayTitle}>
          {t.nothingToPay}
        </Callout>
      )}
      {open.isError && <ErrorNote error={open.error} onRetry={pay} />}
    </div>
  );
}
