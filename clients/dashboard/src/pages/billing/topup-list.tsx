import { lookUp, type Topup, wordOf } from '@gpu-rental/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useToasts } from '../../app/toasts.js';
import { noteTopup } from '../../data/before-leaving.js';
import { downloadReceipt } from '../../data/billing-details.js';
import { readableError } from '../../data/errors.js';
import { topupsQuery } from '../../data/topups.js';
import { useMutation } from '../../data/use-mutation.js';
import { money } from '../../format/money.js';
import { shortTime } from '../../format/time.js';
import { billingTexts } from '../../texts/billing.js';
import { declineOf } from '../../texts/declines.js';
import { Badge, type Tone } from '../../ui/badge.js';
import { Card } from '../../ui/card.js';
import { More } from '../../ui/more.js';
import { Money } from '../../ui/money.js';
import { EmptyState, Skeleton } from '../../ui/states.js';
import { Time } from '../../ui/time.js';

const t = billingTexts.list;

/** All payments, newest first. */
export function TopupList() {
  const list = useInfiniteQuery(topupsQuery);
  const topups = list.data?.pages.flatMap((page) => page.topups);
  return (
    <Card title={t.title} isFlush>
      {list.isPending && <Skeleton className="m-4 h-40" />}
      {topups?.length === 0 && <EmptyState title={t.empty}>{t.emptyWhy}</EmptyState>}
      {topups !== undefined && topups.length > 0 && (
        <>
          <ul className="divide-y divide-line">
            {topups.map((topup) => (
              <TopupRow key={topup.id} topup={topup} />
            ))}
          </ul>
          <p className="border-t border-line px-4 py-3 text-[13px] text-muted">
            {t.refunds}{' '}
            <Link to="/app/ledger" search={{ view: 'entries' }} className="underline">
              {t.ledger}
            </Link>
          </p>
        </>
      )}
      <More pages={list} label={t.more} isFoot />
    </Card>
  );
}

const tones: Readonly<Record<Topup['status'], Tone>> = {
  creating: 'info',
  requires_payment: 'neutral',
  processing: 'info',
  succeeded: 'good',
  expired: 'neutral',
  failed: 'bad',
};

function TopupRow({ topup }: { readonly topup: Topup }) {
  const { amountCents, creditedCents, source, createdAt } = topup;
  const isOther = creditedCents !== null && creditedCents !== amountCents;
  return (
    <li className="grid grid-cols-[minmax(0,1fr)_auto] gap-x-4 gap-y-1 px-4 py-3 md:grid-cols-[10rem_minmax(0,1fr)_7rem_minmax(8rem,auto)] md:items-baseline">
      <span className="text-muted md:col-start-1">
        <Time at={createdAt} />
      </span>
      <div className="col-start-1 min-w-0 gap-x-4 md:col-start-2 md:flex md:flex-wrap md:items-baseline">
        <p className="break-words">{wordOf(t.sources, source)}</p>
        <TopupDetail topup={topup} />
      </div>
      <span className="col-start-2 row-start-2 text-right md:col-start-3 md:row-start-1 md:text-left">
        <TopupState topup={topup} />
      </span>
      <span className="col-start-2 row-start-1 text-right md:col-start-4">
        <Money cents={amountCents} className="font-medium" />
        {isOther && <span className="block text-[13px] text-muted">{t.received(money(creditedCents))}</span>}
      </span>
    </li>
  );
}

/** Its state; a payment that was refunded or disputed is not shown as paid. */
function TopupState({ topup }: { readonly topup: Topup }) {
  const { status, creditedCents, reversedCents } = topup;
  if (!(reversedCents > 0)) {
    return <Badge tone={lookUp(tones, status) ?? 'neutral'}>{wordOf(t.states, status)}</Badge>;
  }
  const isWhole = reversedCents >= (creditedCents ?? 0);
  return <Badge tone="bad">{isWhole ? t.takenBack : t.takenBackPart(money(reversedCents))}</Badge>;
}

/** What there is to know or to do about one payment beside its state. */
function TopupDetail({ topup }: { readonly topup: Topup }) {
  const { status, error, declineCode, creditedCents, checkoutUrl, expiresAt } = topup;
  const why = declineCode === null ? error : declineOf(declineCode).text;
  return (
    <div className="flex flex-wrap gap-x-3 text-[13px] text-muted">
      {status === 'failed' && why !== null && <span className="break-words">{why}</span>}
      {creditedCents !== null && <ReceiptButton topupId={topup.id} />}
      {checkoutUrl !== null && (
        <a href={checkoutUrl} onClick={() => noteTopup(topup.id)} className="underline">
          {t.goOn}
        </a>
      )}
      {checkoutUrl !== null && expiresAt !== null && <Until at={expiresAt} />}
    </div>
  );
}

function ReceiptButton({ topupId }: { readonly topupId: string }) {
  const toasts = useToasts();
  const download = useMutation({
    mutationFn: () => downloadReceipt(topupId),
    onError: (error) =>
      toasts.show({ tone: 'bad', title: t.receiptFails, text: readableError(error).message }),
  });
  return (
    <button
      type="button"
      aria-disabled={download.isPending}
      onClick={() => download.mutate()}
      className="cursor-pointer underline aria-disabled:opacity-60"
    >
      {t.receipt}
    </button>
  );
}

function Until({ at }: { readonly at: string }) {
  return <span>{t.until(shortTime(at))}</span>;
}
