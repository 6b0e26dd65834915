import { type components, wordOf } from '@gpu-rental/client';
import { Link } from '@tanstack/react-router';
import { exactTime } from '../../../format/time.js';
import { ledgerTexts } from '../../../texts/ledger.js';
import { buttonClasses } from '../../../ui/button.js';
import { ExternalIcon } from '../../../ui/icons.js';
import { Money } from '../../../ui/money.js';
import { CopiedId, Fact, Facts } from './explain-facts.js';

type Schemas = components['schemas'];
const { explain } = ledgerTexts;

interface PaymentPartProps {
  readonly payment: Schemas['ExplainedPayment'];
  /** The charge that the entry itself names. */
  readonly entryChargeId: string | null;
}

/** The payment by which money came in. */
export function PaymentPart({ payment, entryChargeId }: PaymentPartProps) {
  const { source, topupId, paymentId, chargeId, sessionId, receiptUrl } = payment;
  return (
    <div>
      <Facts title={explain.payment}>
        {source !== null && <Fact label={explain.source}>{wordOf(explain.sources, source)}</Fact>}
        <CopiedId label={explain.topupId} id={topupId} />
        <CopiedId label={explain.paymentId} id={paymentId} />
        <CopiedId label={explain.chargeId} id={chargeId ?? entryChargeId} />
        <CopiedId label={explain.sessionId} id={sessionId} />
      </Facts>
      <Receipt url={receiptUrl} />
    </div>
  );
}

/** The processor's own paper; only an address of the web is led to. */
function Receipt({ url }: { readonly url: string | null }) {
  if (url === null || !/^https?:\/\//.test(url)) return null;
  return (
    <p className="mt-2">
      <a href={url} target="_blank" rel="noreferrer" className={buttonClasses('secondary', 'small')}>
        {explain.receipt}
        <ExternalIcon />
      </a>
    </p>
  );
}

/** A refund or a dispute by which the processor took a payment back. */
export function ReversalPart({ reversal }: { readonly reversal: Schemas['ExplainedReversal'] }) {
  const { id, kind, status, paymentId, amountCents, debitedCents, invoicedCents, writtenOffCents } = reversal;
  const { takenAt, givenBackAt } = reversal;
  return (
    <Facts title={explain.reversal}>
      <Fact label={wordOf(explain.kinds, kind)}>
        <Money cents={amountCents} />
      </Fact>
      <Fact label={explain.state}>{status}</Fact>
      <Fact label={explain.debited}>
        <Money cents={debitedCents} />
      </Fact>
      {invoicedCents !== 0 && (
        <Fact label={explain.invoiced}>
          <Money cents={invoicedCents} />
        </Fact>
      )}
      {writtenOffCents !== 0 && (
        <Fact label={explain.writtenOff}>
          <Money cents={writtenOffCents} />
        </Fact>
      )}
      {takenAt !== null && <Fact label={explain.takenAt}>{exactTime(takenAt)}</Fact>}
      {givenBackAt !== null && <Fact label={explain.givenBackAt}>{exactTime(givenBackAt)}</Fact>}
      <CopiedId label={explain.paymentId} id={paymentId} />
      <CopiedId label={explain.reversalId} id={id} />
    </Facts>
  );
}

/** The invoice that an entry paid. */
export function InvoicePart({ invoice }: { readonly invoice: Schemas['ExplainedInvoice'] }) {
  const { id, amountCents, paidAt, voidReason, receiptUrl } = invoice;
  return (
    <div>
      <Facts title={explain.invoice}>
        <Fact label={explain.about}>
          <Money cents={amountCents} />
        </Fact>
        {paidAt !== null && <Fact label={explain.paidAt}>{exactTime(paidAt)}</Fact>}
        {voidReason !== null && <Fact label={explain.voidReason}>{voidReason}</Fact>}
        <CopiedId label={explain.invoiceId} id={id} />
      </Facts>
      <Receipt url={receiptUrl} />
      <p className="mt-2">
        <Link to="/app/invoices" className={buttonClasses('secondary', 'small')}>
          {explain.openInvoices}
        </Link>
      </p>
    </div>
  );
}

/** What the service's staff did, and why. */
export function ByHandPart({ byHand }: { readonly byHand: Schemas['ExplainedByHand'] }) {
  const { operationId, kind, reason, doneAt } = byHand;
  return (
    <Facts title={explain.byHand}>
      <Fact label={explain.operation}>{kind}</Fact>
      <Fact label={explain.reason}>{reason}</Fact>
      <Fact label={explain.doneAt}>{exactTime(doneAt)}</Fact>
      <CopiedId label={explain.operationId} id={operationId} />
    </Facts>
  );
}
