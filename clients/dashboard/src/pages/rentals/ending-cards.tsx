import { lookUp, type Rental, wordOf } from '@gpu-rental/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { chargesQuery } from '../../data/rentals.js';
import { rentalTexts } from '../../texts/rentals.js';
import { Callout } from '../../ui/badge.js';
import { buttonClasses, Spinner } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { Money } from '../../ui/money.js';
import { Time } from '../../ui/time.js';
import { againSearch } from './again.js';
import { SupportLink } from '../../ui/support-link.js';

const texts = rentalTexts.settlement;

/** Why it ended, or that it is about to. */
export function EndNote({ rental }: { readonly rental: Rental }) {
  const { status, stopReason } = rental;
  const reason = stopReason === null ? undefined : wordOf(rentalTexts.reasons, stopReason);
  if (status === 'stopping') return <Stopping reason={reason} />;
  if (status === 'failed') return <Failed rental={rental} />;
  if (status !== 'stopped' || reason === undefined) return null;
  if (stopReason !== 'operator')
    return <Callout tone={stopReason === 'user' ? 'neutral' : 'warn'} title={reason} />;
  return (
    <Callout tone="warn" title={reason}>
      <SupportLink />
    </Callout>
  );
}

function Stopping({ reason }: { readonly reason: string | undefined }) {
  return (
    <Callout role="status" tone="warn" title={texts.stoppingTitle}>
      <span className="flex items-center gap-2">
        <Spinner />
        {[reason, texts.stopping].filter((part) => part !== undefined).join(' ')}
      </span>
    </Callout>
  );
}

function Failed({ rental: { failure, error, totalChargedCents } }: { readonly rental: Rental }) {
  return (
    <Callout
      role="status"
      tone="bad"
      title={lookUp(rentalTexts.failures, failure?.code ?? 'other') ?? rentalTexts.failures.other}
    >
      <p>{failure?.message ?? error}</p>
      {totalChargedCents === 0 && <p>{rentalTexts.failures.free}</p>}
    </Callout>
  );
}

/** What it came to, as the service settled it. */
export function SettlementCard({ rental }: { readonly rental: Rental }) {
  const { data } = useQuery(chargesQuery(rental.id, 'hour'));
  const { writtenOffCents, totalChargedCents, terminatedAt } = rental;
  const sum = (part: 'chargedCents' | 'refundedCents'): number | undefined =>
    data?.charges.reduce((cents, charge) => cents + charge[part], 0);
  return (
    <Card
      title={texts.title}
      aside={
        <Link
          to="/app/rent/$familyId"
          params={{ familyId: rental.familyId }}
          search={againSearch(rental)}
          className={buttonClasses('primary', 'small')}
        >
          {texts.again}
        </Link>
      }
    >
      <dl className="flex flex-col gap-2.5">
        <Line label={texts.charged}>{cents(sum('chargedCents'))}</Line>
        <Line label={texts.refunded}>{cents(sum('refundedCents'))}</Line>
        {writtenOffCents > 0 && (
          <Line label={texts.writtenOff} note={texts.writtenOffNote}>
            <Money cents={writtenOffCents} />
          </Line>
        )}
        <Line label={texts.net}>
          <Money cents={totalChargedCents} className="text-base font-semibold" />
        </Line>
        <Line label={texts.gone}>
          {terminatedAt === null ? texts.notGone : <Time at={terminatedAt} isFull />}
        </Line>
      </dl>
    </Card>
  );
}

const cents = (value: number | undefined): ReactNode => (value === undefined ? '…' : <Money cents={value} />);

interface LineProps {
  readonly label: string;
  readonly note?: string;
  readonly children: ReactNode;
}

function Line({ label, note, children }: LineProps) {
  return (
    <div className="flex flex-wrap items-baseline justify-between gap-x-4">
      <dt className="text-muted">{label}</dt>
      <dd className="text-right">{children}</dd>
      {note !== undefined && <dd className="w-full text-xs text-muted">{note}</dd>}
    </div>
  );
}
