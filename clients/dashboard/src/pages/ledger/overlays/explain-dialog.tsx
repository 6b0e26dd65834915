import { useQuery } from '@tanstack/react-query';
import { explainQuery } from '../../../data/ledger.js';
import { exactTime } from '../../../format/time.js';
import { ledgerTexts } from '../../../texts/ledger.js';
import { shellTexts } from '../../../texts/shell.js';
import { Dialog } from '../../../ui/dialog.js';
import { Money } from '../../../ui/money.js';
import { ErrorNote, Skeleton } from '../../../ui/states.js';
import { ByHandPart, InvoicePart, PaymentPart, ReversalPart } from './explain-documents.js';
import { CopiedId, Fact, Facts } from './explain-facts.js';
import { ChargePart, RefundPart, RentalPart } from './explain-rental.js';
import { type Explanation, wordOf } from '@gpu-rental/client';

const { explain, types } = ledgerTexts;

interface ExplainDialogProps {
  /** The entry. */
  readonly id: string;
  readonly onClose: () => void;
}

/** Why an entry was written, down to the instants, and the documents behind it. */
export function ExplainDialog({ id, onClose }: ExplainDialogProps) {
  return (
    <Dialog isOpen onClose={onClose} title={explain.title}>
      {/* On a phone it stands on the lower edge: there it is as high while it waits as afterwards. */}
      <div className="max-sm:h-[76dvh]">
        <Explained id={id} />
      </div>
    </Dialog>
  );
}

function Explained({ id }: { readonly id: string }) {
  const { data, error, refetch } = useQuery(explainQuery(id));
  if (error && !data) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (!data) {
    return (
      <div role="status" className="flex flex-col gap-3">
        <span className="sr-only">{shellTexts.loading}</span>
        <Skeleton className="h-8 w-32" />
        <Skeleton className="h-10 w-full" />
        <Skeleton className="h-48 w-full" />
      </div>
    );
  }
  return <Parts told={data} />;
}

function Parts({ told }: { readonly told: Explanation }) {
  const { entry, why, charge, rentalRefund, rental, payment, reversal, invoice, byHand } = told;
  return (
    <div className="flex flex-col gap-5">
      <div>
        <p className="flex items-baseline justify-between gap-3">
          <span className="font-medium">{wordOf(types, entry.type)}</span>
          <Money cents={entry.amountCents} isSigned className="text-xl font-semibold" />
        </p>
        <p className="mt-2 break-words text-soft">{why}</p>
      </div>
      <Facts>
        <Fact label={explain.balance}>
          <Money cents={entry.balanceBeforeCents} /> {'→'} <Money cents={entry.balanceAfterCents} />
        </Fact>
        <Fact label={explain.written}>{exactTime(entry.createdAt)}</Fact>
        <CopiedId label={explain.id} id={entry.id} />
      </Facts>
      {charge && <ChargePart charge={charge} />}
      {rentalRefund && <RefundPart refund={rentalRefund} />}
      {rental && <RentalPart rental={rental} />}
      {payment && <PaymentPart payment={payment} entryChargeId={entry.processorChargeId} />}
      {reversal && <ReversalPart reversal={reversal} />}
      {invoice && <InvoicePart invoice={invoice} />}
      {byHand && <ByHandPart byHand={byHand} />}
    </div>
  );
}
