import type { Listing, Quote } from '@gpu-rental/client';
import type { ReactNode } from 'react';
import { DoneBefore } from '../../data/wishes.js';
import { countryName, familyName } from '../../format/machine.js';
import { money } from '../../format/money.js';
import { clockSpan, shortTime, span } from '../../format/time.js';
import { useNow } from '../../live/now.js';
import { rentTexts } from '../../texts/rent.js';
import { Callout } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { classes } from '../../ui/classes.js';
import { Skeleton } from '../../ui/states.js';
import { Alternatives } from './alternatives.js';
import { factsOf } from './facts.js';
import { secondsLeft, type HeldQuote } from './quote-state.js';
import { AddMoney, RentFailure } from './rent-failure.js';
import type { Renting } from './use-renting.js';

const texts = rentTexts.quote;

interface QuotePanelProps {
  readonly renting: Renting;
  /** What hinders before the service is asked, as a missing key does; undefined for nothing. */
  readonly obstacle: string | undefined;
  readonly onChoose: (listing: Listing) => void;
}

/** What the choices cost, for how long that holds, and the button that rents. */
export function QuotePanel({ renting, obstacle, onChoose }: QuotePanelProps) {
  const { held, quoteError, failure } = renting;
  const error = failure ?? quoteError;
  return (
    <Card title={texts.title}>
      <div className="flex flex-col gap-4">
        {error !== null && (
          <RentFailure
            error={error}
            isCreate={failure !== null}
            onRetry={() => (failure && held && renting.canRetry ? renting.rent(held.quote) : renting.renew())}
            onChoose={onChoose}
          />
        )}
        {quoteError === null && !held && <QuoteSkeleton />}
        {quoteError === null && held && <HeldPrice {...{ renting, held, obstacle, onChoose }} />}
      </div>
    </Card>
  );
}

function HeldPrice({ renting, held, obstacle, onChoose }: QuotePanelProps & { readonly held: HeldQuote }) {
  const { quote, changedFromCents } = held;
  return (
    <div className={classes('flex flex-col gap-4 transition-opacity', renting.isStale && 'opacity-60')}>
      {changedFromCents !== undefined && (
        <Callout
          role="status"
          tone="warn"
          title={texts.changed(money(changedFromCents), money(quote.pricePerHourCents))}
        >
          {texts.changedText}
        </Callout>
      )}
      <QuoteFigures quote={quote} />
      <PublicPorts quote={quote} />
      <RentButton renting={renting} held={held} obstacle={obstacle} />
      <p className="text-[13px] text-muted">
        {quote.ownSoftware ? texts.billingOwn(span(quote.ownSoftware.graceSeconds)) : texts.billing}
      </p>
      {quote.alternatives.length > 0 && !renting.isUnknown && (
        <div>
          <h3 className="mb-2 text-[13px] font-medium text-soft">{texts.alternatives}</h3>
          <Alternatives listings={quote.alternatives} onChoose={onChoose} />
        </div>
      )}
    </div>
  );
}

interface RentButtonProps {
  readonly renting: Renting;
  readonly held: HeldQuote;
  readonly obstacle: string | undefined;
}

/** Rents while the price holds; asks for it again when it does not; leads to money where that is missing. */
function RentButton({ renting, held, obstacle }: RentButtonProps) {
  const { quote } = held;
  const left = secondsLeft(held, useNow());
  const { isRenting, isUnknown, isStale } = renting;
  const isAsked = renting.failure instanceof DoneBefore;
  if (quote.missingCents > 0) {
    return (
      <Callout
        tone="warn"
        title={texts.missing(money(quote.missingCents))}
        actions={<AddMoney missingCents={quote.missingCents} />}
      >
        {quote.ownSoftware ? texts.missingTextOwn : texts.missingText}
      </Callout>
    );
  }
  const isOver = left === 0 && !isRenting && !isUnknown;
  return (
    <div className="flex flex-col gap-2">
      {isOver ? (
        <Button look="primary" onClick={renting.renew} isBusy={isStale}>
          {texts.renew}
        </Button>
      ) : (
        <Button
          look="primary"
          isBusy={isRenting}
          disabled={isUnknown || isAsked || obstacle !== undefined}
          onClick={() => renting.rent(quote)}
        >
          {texts.rentFor(money(quote.pricePerHourCents))}
        </Button>
      )}
      {obstacle !== undefined && <p className="text-[13px] text-bad">{obstacle}</p>}
      <p className="text-center text-[13px] text-muted">
        {isOver ? (
          <span role="status">{texts.over}</span>
        ) : (
          <>
            {texts.holds} <span className="font-medium tabular text-soft">{clockSpan(left)}</span>
          </>
        )}
      </p>
    </div>
  );
}

/** Names the ports that anybody may reach. */
function PublicPorts({ quote: { ownSoftware } }: { readonly quote: Quote }) {
  const ports = ownSoftware?.publicPorts ?? [];
  if (ports.length === 0) return null;
  return (
    <Callout tone="warn" title={texts.publicTitle(ports.join(', '))}>
      {texts.publicText}
    </Callout>
  );
}

/** The figures of a quote, each as the service said it. */
function QuoteFigures({ quote }: { readonly quote: Quote }) {
  const { listing, worstCaseCents, walletAfterCents, budgetLeftCents, expectedReadySeconds: ready } = quote;
  return (
    <dl className="flex flex-col gap-2.5">
      <div>
        <dt className="sr-only">{rentTexts.family.machine}</dt>
        <dd className="font-semibold">{rentTexts.machine(listing.gpuCount, familyName(listing.family))}</dd>
        <dd className="text-[13px] text-muted">{placeOf(listing)}</dd>
        <dd className="text-[13px] text-muted">{factsOf(listing).join(rentTexts.separator)}</dd>
      </div>
      <Figure label={texts.price} value={rentTexts.perHour(money(quote.pricePerHourCents))} isStrong />
      <Figure label={texts.hold} value={money(quote.holdCents)} note={texts.holdNote} />
      <Figure
        label={texts.worst}
        value={worstCaseCents === null ? texts.worstNone : money(worstCaseCents)}
        note={worstCaseCents === null ? texts.worstNoneNote : limitNote(quote)}
      />
      <Figure
        label={texts.after}
        value={money(walletAfterCents)}
        tone={walletAfterCents < 0 ? 'bad' : undefined}
      />
      <Figure label={texts.runway} value={span(quote.runwaySecondsAfter)} note={texts.runwayNote} />
      {listing.availableUntil !== null && (
        <Figure label={texts.until} value={shortTime(listing.availableUntil)} note={texts.untilNote} />
      )}
      {budgetLeftCents !== null && <Figure label={texts.budgetLeft} value={money(budgetLeftCents)} />}
      {quote.telemetrySource === 'reporter' && <Figure label={texts.use} value={texts.useByUs} />}
      <Figure
        label={texts.ready}
        value={ready ? texts.readySpread(span(ready.p50), span(ready.p90)) : texts.readyNone}
      />
    </dl>
  );
}

function placeOf({ region, regionCode, interconnect, providerCode }: Listing): string {
  const where = region === regionCode ? countryName(regionCode) : region;
  return [where, interconnect.toUpperCase(), texts.provider(providerCode)].join(rentTexts.separator);
}

/** Where a cap or a budget set the limit, somebody wonders why there is one. */
function limitNote({
  capLeftCents,
  budgetLeftCents,
  worstCaseCents,
  maxSpendCents,
}: Quote): string | undefined {
  if (worstCaseCents !== maxSpendCents) return undefined;
  if (capLeftCents !== null) return texts.capLimit;
  return budgetLeftCents === null ? undefined : texts.budgetLimit;
}

interface FigureProps {
  readonly label: string;
  readonly value: ReactNode;
  readonly note?: string | undefined;
  readonly isStrong?: boolean;
  readonly tone?: 'bad' | undefined;
}

function Figure({ label, value, note, isStrong = false, tone }: FigureProps) {
  return (
    <div className="flex flex-wrap items-baseline justify-between gap-x-4">
      <dt className="text-muted">{label}</dt>
      <dd
        className={classes(
          'text-right tabular',
          isStrong ? 'text-base font-semibold' : 'font-medium',
          tone && 'text-bad',
        )}
      >
        {value}
      </dd>
      {note !== undefined && <dd className="w-full text-xs text-muted">{note}</dd>}
    </div>
  );
}

function QuoteSkeleton() {
  return (
    <div role="status" className="flex flex-col gap-3">
      <span className="sr-only">{texts.loading}</span>
      <Skeleton className="h-10 w-40" />
      {[1, 2, 3, 4, 5, 6].map((line) => (
        <div key={line} className="flex justify-between gap-4">
          <Skeleton className="h-5 w-28" />
          <Skeleton className="h-5 w-20" />
        </div>
      ))}
      <Skeleton className="h-10 w-full" />
    </div>
  );
}
