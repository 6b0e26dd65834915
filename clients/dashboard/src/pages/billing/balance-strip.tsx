import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { balanceQuery } from '../../data/wallet.js';
import { span } from '../../format/time.js';
import { useBalance } from '../../live/hooks.js';
import { billingTexts } from '../../texts/billing.js';
import { Card, Stat } from '../../ui/card.js';
import { Money } from '../../ui/money.js';
import { ErrorNote, Skeleton } from '../../ui/states.js';

const t = billingTexts.balance;

/** Two of them stand side by side on phones, whatever they say. */
const minor = 'text-base sm:text-xl';

/** What is there, what is held, and how fast it goes. */
export function BalanceStrip() {
  const { error, refetch } = useQuery(balanceQuery);
  const balance = useBalance();
  if (error && balance === undefined) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (balance === undefined) return <Skeleton className="h-24 w-full" />;
  const { availableCents, reservedCents, burnPerHourCents, runwaySeconds, openInvoicesCents } = balance;
  return (
    <Card>
      <dl className="grid grid-cols-2 gap-x-6 gap-y-4 md:grid-cols-[repeat(auto-fit,minmax(9.5rem,1fr))]">
        <Stat
          label={t.available}
          value={<Money cents={availableCents} className="text-2xl" />}
          className="col-span-2 md:col-span-1"
        />
        <Stat label={t.held} value={<Money cents={reservedCents} className={minor} />} note={t.heldNote} />
        <Stat
          label={t.burn}
          value={<Money cents={burnPerHourCents} className={minor} />}
          note={runwaySeconds === null ? t.nothingRuns : t.lasts(span(runwaySeconds))}
        />
        {openInvoicesCents > 0 && (
          <Stat
            label={t.owed}
            value={<Money cents={openInvoicesCents} className={`${minor} text-bad`} />}
            note={
              <Link to="/app/invoices" className="underline">
                {t.invoices}
              </Link>
            }
          />
        )}
      </dl>
    </Card>
  );
}
