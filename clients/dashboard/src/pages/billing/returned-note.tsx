import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { RentLink } from '../../app/next-step.js';
import { notedTopup } from '../../data/before-leaving.js';
import { isOver, returnedTopupQuery } from '../../data/topups.js';
import { money } from '../../format/money.js';
import { fullTime } from '../../format/time.js';
import { billingTexts } from '../../texts/billing.js';
import { declineOf } from '../../texts/declines.js';
import { Callout } from '../../ui/badge.js';
import { Button, buttonClasses, Spinner } from '../../ui/button.js';
import { ErrorNote, Skeleton } from '../../ui/states.js';
import { returnStateOf, type ReturnState } from './returned.js';
import type { BillingSearch } from './search.js';
import { pauseMs, useLate } from './use-late.js';

const t = billingTexts.returned;

interface ReturnedNoteProps {
  readonly how: NonNullable<BillingSearch['session']>;
}

/** Stands above the page after a visit to the payment page, and follows the payment until the service knows of it. */
export function ReturnedNote({ how }: ReturnedNoteProps) {
  const [topupId] = useState(notedTopup);
  const isLate = useLate();
  const {
    data: topup,
    error,
    refetch,
  } = useQuery({
    ...returnedTopupQuery(topupId),
    refetchInterval: ({ state }) => (state.data && isOver(state.data) ? false : pauseMs(isLate)),
  });
  const state = returnStateOf(how, topup, isLate);
  const isAsked = topup !== undefined;
  if (!isAsked && error) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  return (
    <div aria-live="polite">
      <ReturnCallout state={state} />
    </div>
  );
}

function ReturnCallout({ state }: { readonly state: ReturnState }) {
  switch (state.kind) {
    case 'asking':
      return <Skeleton className="h-18 w-full" />;
    case 'waiting':
      return (
        <Callout tone="info" title={state.isLate ? t.lateTitle : t.waitingTitle}>
          <p className="flex items-start gap-2">
            <Spinner className="mt-0.5 size-4 shrink-0" />
            {state.isLate ? t.late : t.waiting}
          </p>
        </Callout>
      );
    case 'paid':
      return (
        <Callout
          tone="good"
          title={t.paidTitle(money(state.creditedCents))}
          actions={
            <>
              <RentLink />
              <DoneButton />
            </>
          }
        >
          {t.paid(fullTime(state.creditedAt))}
        </Callout>
      );
    case 'cancelled':
      return (
        <Callout
          tone="neutral"
          title={t.cancelledTitle}
          actions={
            <>
              {state.resume && (
                <a href={state.resume.url} className={buttonClasses('primary', 'small')}>
                  {t.resume(money(state.resume.amountCents))}
                </a>
              )}
              <DoneButton />
            </>
          }
        >
          {t.cancelled}
        </Callout>
      );
    case 'failed':
      return (
        <Callout tone="bad" title={t.failedTitle} actions={<DoneButton />}>
          {declineText(state)}
        </Callout>
      );
    case 'expired':
      return (
        <Callout tone="neutral" title={t.expiredTitle} actions={<DoneButton />}>
          {t.expired}
        </Callout>
      );
  }
}

function declineText({ topup }: Extract<ReturnState, { kind: 'failed' }>): string {
  if (topup.declineCode !== null) return declineOf(topup.declineCode).text;
  return topup.error ?? declineOf(undefined).text;
}

/** Takes the note away, and its part of the address. */
export function DoneButton() {
  return (
    <Button size="small" onClick={useDone()}>
      {billingTexts.done}
    </Button>
  );
}

/** Ends the visit that the address tells of, and with it what the page says of it. */
export function useDone(): () => void {
  const navigate = useNavigate();
  return () => void navigate({ to: '/app/billing', search: {}, replace: true, resetScroll: false });
}
