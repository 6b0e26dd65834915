import { isApiError } from '@gpu-rental/client';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { RentLink } from '../../app/next-step.js';
import { wishes } from '../../data/open-wishes.js';
import { isOver, topupQuery } from '../../data/topups.js';
import { DoneBefore } from '../../data/wishes.js';
import { money } from '../../format/money.js';
import { useAgo } from '../../live/ago.js';
import { billingTexts } from '../../texts/billing.js';
import { errorTexts } from '../../texts/errors.js';
import { Callout } from '../../ui/badge.js';
import { Button, buttonClasses } from '../../ui/button.js';
import { ErrorNote } from '../../ui/states.js';
import { DeclineNote } from './decline-note.js';
import type { TopupPhase } from './use-topup.js';
import { SupportLink } from '../../ui/support-link.js';

const t = billingTexts.topup;

interface TopupNoteProps {
  readonly phase: TopupPhase;
  readonly onSend: (amountCents: number, isMeant?: boolean) => void;
  readonly onReset: () => void;
}

/** What became of a payment that was sent from the form. */
export function TopupNote({ phase, onSend, onReset }: TopupNoteProps) {
  switch (phase.kind) {
    case 'page':
      return (
        <Callout
          role="status"
          tone="info"
          title={t.needsPageTitle}
          actions={
            <a href={phase.url} className={buttonClasses('primary')}>
              {t.goToPage}
            </a>
          }
        >
          {t.needsPage}
        </Callout>
      );
    case 'charged':
      return <ChargeNote topupId={phase.topupId} amountCents={phase.amountCents} onReset={onReset} />;
    case 'failed':
      if (phase.error instanceof DoneBefore) {
        return <TwiceNote {...phase} error={phase.error} onSend={onSend} onReset={onReset} />;
      }
      return phase.outcome === 'open' ? (
        <OpenNote {...phase} onSend={onSend} onReset={onReset} />
      ) : (
        <RefusedNote error={phase.error} onRetry={() => onSend(phase.amountCents)} />
      );
    default:
      return null;
  }
}

interface ChargeNoteProps {
  readonly topupId: string;
  readonly amountCents: number;
  readonly onReset: () => void;
}

const LOOK_EVERY_MS = 2_000;

/** Follows a charge of the saved card until the bank has decided. */
function ChargeNote({ topupId, amountCents, onReset }: ChargeNoteProps) {
  const { data: topup, error } = useQuery({
    ...topupQuery(topupId),
    refetchInterval: ({ state }) => (state.data && isOver(state.data) ? false : LOOK_EVERY_MS),
  });
  const isSeen = topup !== undefined && isOver(topup);
  useEffect(() => {
    if (isSeen) wishes.forget('topup');
  }, [isSeen]);
  if (topup?.status === 'failed') return <DeclineNote topup={topup} onRetry={onReset} />;
  if (topup?.status !== 'succeeded') {
    return (
      <Callout role="status" tone="info" title={t.processingTitle(money(amountCents))}>
        <p>{t.processing}</p>
        {error && <ErrorNote error={error} />}
      </Callout>
    );
  }
  return (
    <Callout
      role="status"
      tone="good"
      title={t.paidTitle(money(topup.creditedCents ?? topup.amountCents))}
      actions={
        <>
          <RentLink />
          <Button size="small" onClick={onReset}>
            {t.again}
          </Button>
          {topup.receiptUrl !== null && (
            <a
              href={topup.receiptUrl}
              target="_blank"
              rel="noreferrer"
              className={buttonClasses('quiet', 'small')}
            >
              {t.receipt}
            </a>
          )}
        </>
      }
    />
  );
}

interface TwiceNoteProps {
  readonly error: DoneBefore;
  readonly amountCents: number;
  readonly onSend: (amountCents: number, isMeant: boolean) => void;
  readonly onReset: () => void;
}

/** The same amount was paid a moment ago: whoever means another payment says so. */
function TwiceNote({ error, amountCents, onSend, onReset }: TwiceNoteProps) {
  const amount = money(amountCents);
  return (
    <Callout
      role="alert"
      tone="warn"
      title={t.twiceTitle(amount, useAgo(error.atMs))}
      actions={
        <>
          <Button look="primary" onClick={() => onSend(amountCents, true)}>
            {t.twice(amount)}
          </Button>
          <Button look="quiet" onClick={onReset}>
            {t.notTwice}
          </Button>
        </>
      }
    >
      {t.twiceAsk(amount)}
    </Callout>
  );
}

interface OpenNoteProps {
  readonly error: unknown;
  readonly amountCents: number;
  readonly onSend: (amountCents: number) => void;
  readonly onReset: () => void;
}

/** Nobody knows whether the payment was begun: asking again under its key can't make a second one. */
function OpenNote({ error, amountCents, onSend, onReset }: OpenNoteProps) {
  return (
    <div className="flex flex-col gap-3">
      <Callout
        role="alert"
        tone="warn"
        title={t.openTitle}
        actions={
          <>
            <Button look="primary" onClick={() => onSend(amountCents)}>
              {t.askAgain}
            </Button>
            <Button look="quiet" onClick={onReset}>
              {t.startOver}
            </Button>
          </>
        }
      >
        <p>{t.open(money(amountCents))}</p>
        {isApiError(error) && (
          <p className="mt-1 font-mono text-xs break-all text-soft">
            {errorTexts.requestId(error.requestId)}
          </p>
        )}
      </Callout>
    </div>
  );
}

/** Nothing was charged: why, and what helps. */
function RefusedNote({ error, onRetry }: { readonly error: unknown; readonly onRetry: () => void }) {
  if (isApiError(error, 'card_declined')) {
    return <DeclineNote code={error.details.declineCode} requestId={error.requestId} onRetry={onRetry} />;
  }
  if (isApiError(error, 'billing_disabled')) {
    return (
      <Callout role="alert" tone="warn" title={t.disabledTitle}>
        {t.disabled}
      </Callout>
    );
  }
  if (isApiError(error, 'charge_in_progress')) {
    return (
      <Callout
        role="alert"
        tone="warn"
        title={t.busyTitle(money(error.details.amountCents))}
        actions={<Button onClick={onRetry}>{t.tryAgain}</Button>}
      >
        {t.busy}
      </Callout>
    );
  }
  if (isApiError(error, 'blocked')) {
    const { reason, limit } = error.details;
    return (
      <Callout role="alert" tone="bad" title={t.blockedTitle}>
        <p>{error.message}</p>
        <p>
          {reason === 'too_many_topups' && limit !== undefined ? t.tooMany(limit) : t.blocked}{' '}
          <SupportLink contact={error.support} />
        </p>
        <p className="mt-1 font-mono text-xs break-all text-soft">{errorTexts.requestId(error.requestId)}</p>
      </Callout>
    );
  }
  return <ErrorNote error={error} onRetry={onRetry} />;
}
