import { isApiError, type DetailsOf, type ErrorCode, type Listing } from '@gpu-rental/client';
import { getRouteApi, Link } from '@tanstack/react-router';
import { createElement, type ReactNode } from 'react';
import { noteForm } from '../../data/before-leaving.js';
import { readableError } from '../../data/errors.js';
import { DoneBefore } from '../../data/wishes.js';
import { money } from '../../format/money.js';
import { number } from '../../format/number.js';
import { span } from '../../format/time.js';
import { useAgo } from '../../live/ago.js';
import { errorTexts } from '../../texts/errors.js';
import { idleTexts } from '../../texts/idle.js';
import { ownSoftwareTexts } from '../../texts/own-software.js';
import { rentTexts } from '../../texts/rent.js';
import { Callout, type Tone } from '../../ui/badge.js';
import { Button, buttonClasses } from '../../ui/button.js';
import { ErrorNote, useCountdown } from '../../ui/states.js';
import { Alternatives } from './alternatives.js';
import { holdsSoftware } from './held-software.js';
import { misfitWords } from './software-fault.js';
import { isOutcomeUnknown } from '../../data/outcome.js';

const texts = rentTexts.failures;

interface RentFailureProps {
  readonly error: unknown;
  /** It was a create that failed, not only its quote. */
  readonly isCreate: boolean;
  readonly onRetry: () => void;
  readonly onChoose: (listing: Listing) => void;
}

/** Why nothing was rented, each reason in its own words and with its own way on. */
export function RentFailure({ error, isCreate, onRetry, onChoose }: RentFailureProps) {
  if (isCreate && isOutcomeUnknown(error)) return <Unknown error={error} onRetry={onRetry} />;
  if (error instanceof DoneBefore) return <Twice error={error} onRetry={onRetry} />;
  if (!isApiError(error)) return <ErrorNote error={error} title={texts.title} onRetry={onRetry} />;
  return createElement(wordsOf(error.code), { error, onRetry, onChoose });
}

interface WordsProps<Code extends ErrorCode = ErrorCode> {
  readonly error: Failure<Code>;
  readonly onRetry: () => void;
  readonly onChoose: (listing: Listing) => void;
}

type Words = { readonly [Code in ErrorCode]?: (props: WordsProps<Code>) => ReactNode };

type Failure<Code extends ErrorCode> = {
  readonly code: Code;
  readonly details: DetailsOf<Code>;
};

/** The details as far as they came: a newer or an older service may leave some out. */
function detailsOf<E extends { readonly details: object | undefined }>(
  error: E,
): Partial<NonNullable<E['details']>> {
  return error.details ?? {};
}

interface ToldProps {
  readonly error: unknown;
  readonly title: string;
  readonly text?: string;
  readonly tone?: Tone;
  readonly actions?: ReactNode;
  readonly onRetry?: () => void;
  readonly children?: ReactNode;
}

/** A failure in words of this page, with the request's id, and when to try again. */
function Told({ error, title, text, tone = 'bad', actions, onRetry, children }: ToldProps) {
  const { requestId, retryAfterSeconds } = readableError(error);
  const left = useCountdown(retryAfterSeconds ?? 0, error);
  return (
    <Callout
      role="alert"
      tone={tone}
      title={title}
      actions={
        (actions !== undefined || onRetry) && (
          <>
            {actions}
            {onRetry && (
              <Button size="small" onClick={onRetry} disabled={left > 0}>
                {left > 0 ? errorTexts.retryIn(span(left)) : texts.retry}
              </Button>
            )}
          </>
        )
      }
    >
      {text !== undefined && <p>{text}</p>}
      {children}
      {requestId !== undefined && (
        <p className="mt-1 font-mono text-xs break-all text-soft">{errorTexts.requestId(requestId)}</p>
      )}
    </Callout>
  );
}

/** Such a machine was rented a moment ago: whoever means another one says so. */
function Twice({ error, onRetry }: { readonly error: DoneBefore; readonly onRetry: () => void }) {
  return (
    <Callout
      role="alert"
      tone="warn"
      title={texts.twiceTitle(useAgo(error.atMs))}
      actions={
        <>
          <Button size="small" look="primary" onClick={onRetry}>
            {texts.twice}
          </Button>
          <Link to="/app/rentals" className={buttonClasses('secondary', 'small')}>
            {texts.full}
          </Link>
        </>
      }
    >
      {texts.twiceAsk}
    </Callout>
  );
}

function Unknown({ error, onRetry }: { readonly error: unknown; readonly onRetry: () => void }) {
  const { requestId, retryAfterSeconds } = readableError(error);
  const left = useCountdown(retryAfterSeconds ?? 0, error);
  return (
    <Callout
      role="alert"
      tone="warn"
      title={texts.unknownTitle}
      actions={
        <>
          <Button size="small" look="primary" onClick={onRetry} disabled={left > 0}>
            {left > 0 ? errorTexts.retryIn(span(left)) : texts.unknownAsk}
          </Button>
          <Link to="/app/rentals" className={buttonClasses('secondary', 'small')}>
            {texts.unknownLook}
          </Link>
        </>
      }
    >
      <p>{texts.unknownText}</p>
      {requestId !== undefined && (
        <p className="mt-1 font-mono text-xs break-all text-soft">{errorTexts.requestId(requestId)}</p>
      )}
    </Callout>
  );
}

/** The quote did not hold: there is a new one, or there are others. */
function Outdated({ error, onRetry, onChoose }: WordsProps<'price_changed'> | WordsProps<'quote_expired'>) {
  const { quote, alternatives = [] } = detailsOf(error);
  const title = error.code === 'price_changed' ? texts.priceChanged : texts.quoteExpired;
  if (quote) return <Told error={error} tone="warn" title={title} text={texts.lookAgain} />;
  if (alternatives.length > 0) return <Gone error={error} listings={alternatives} onChoose={onChoose} />;
  return <Told error={error} tone="warn" title={title} text={texts.getAgain} onRetry={onRetry} />;
}

interface GoneProps {
  readonly error: unknown;
  readonly listings: readonly Listing[];
  readonly onChoose: (listing: Listing) => void;
}

function Gone({ error, listings, onChoose }: GoneProps) {
  if (listings.length === 0)
    return <Told error={error} tone="warn" title={texts.gone} text={texts.goneNoText} />;
  return (
    <Told error={error} tone="warn" title={texts.gone} text={texts.goneText}>
      <div className="my-2">
        <Alternatives listings={listings} onChoose={onChoose} />
      </div>
    </Told>
  );
}

function Missing({ error }: WordsProps<'insufficient_balance'>) {
  const { requiredCents, availableCents } = detailsOf(error);
  const isTold = requiredCents !== undefined && availableCents !== undefined;
  return (
    <Told
      error={error}
      title={texts.missingTitle}
      text={isTold ? texts.missingText(money(requiredCents), money(availableCents)) : texts.missingPlain}
      actions={<AddMoney missingCents={isTold ? requiredCents - availableCents : undefined} />}
    />
  );
}

const route = getRouteApi('/app/rent/$familyId');

/** Leads to where money is added, and from there back to this form as it is. */
export function AddMoney({ missingCents }: { readonly missingCents: number | undefined }) {
  const { familyId } = route.useParams();
  const search = route.useSearch();
  return (
    <Link
      to="/app/billing"
      onClick={() => noteForm({ familyId, search, hasSoftware: holdsSoftware() })}
      search={missingCents === undefined ? {} : { amountCents: missingCents }}
      className={buttonClasses('primary', 'small')}
    >
      {rentTexts.quote.addMoney}
    </Link>
  );
}

function Reserved({ error }: WordsProps<'budget_reserved'> | WordsProps<'cap_reserved'>) {
  const { askedCents, leftCents, limitCents, reservedBy = [], unlimited = [] } = detailsOf(error);
  const isTold = askedCents !== undefined && leftCents !== undefined && limitCents !== undefined;
  const holders = [...reservedBy, ...unlimited].map(({ rentalId }) => rentalId);
  return (
    <Told
      error={error}
      title={error.code === 'budget_reserved' ? texts.budgetTitle : texts.capTitle}
      {...(isTold && { text: texts.budgetText(money(askedCents), money(leftCents), money(limitCents)) })}
      actions={
        <Link to="/app/budget" className={buttonClasses('secondary', 'small')}>
          {texts.budget}
        </Link>
      }
    >
      {holders.length > 0 && (
        <>
          <p>{unlimited.length > 0 ? texts.budgetUnlimited : texts.budgetHeld}</p>
          <ul className="my-1">
            {holders.map((rentalId) => (
              <li key={rentalId}>
                <Link to="/app/rentals/$rentalId" params={{ rentalId }} className="break-all underline">
                  {texts.rental(rentalId)}
                </Link>
              </li>
            ))}
          </ul>
        </>
      )}
    </Told>
  );
}

function Blocked({ error, onRetry }: WordsProps<'blocked'>) {
  const { reason, limit } = detailsOf(error);
  if (reason === 'unpaid_invoice') {
    const link = (
      <Link to="/app/invoices" className={buttonClasses('primary', 'small')}>
        {texts.unpaid}
      </Link>
    );
    return <Told error={error} title={texts.unpaidTitle} text={texts.unpaidText} actions={link} />;
  }
  if (reason !== 'too_many_rentals' || limit === undefined) {
    return <ErrorNote error={error} title={texts.title} onRetry={onRetry} />;
  }
  const link = (
    <Link to="/app/rentals" className={buttonClasses('secondary', 'small')}>
      {texts.full}
    </Link>
  );
  const text = texts.fullText(number(limit));
  return <Told error={error} title={texts.fullTitle} text={text} actions={link} onRetry={onRetry} />;
}

function TooMany({ error, onRetry }: WordsProps<'rate_limited'>) {
  const { reason, retryAfterSeconds: seconds } = detailsOf(error);
  if (reason !== 'too_many_free_machines') {
    return <Told error={error} title={texts.busyTitle} text={texts.notDoneText} onRetry={onRetry} />;
  }
  const text = seconds === undefined ? texts.tooManyPlain : texts.tooManyText(Math.ceil(seconds / 60));
  return <Told error={error} title={texts.tooManyTitle} text={text} onRetry={onRetry} />;
}

const words: Words = {
  price_changed: Outdated,
  quote_expired: Outdated,
  model_unavailable: ({ error, onChoose }) => (
    <Gone error={error} listings={detailsOf(error).alternatives ?? []} onChoose={onChoose} />
  ),
  insufficient_balance: Missing,
  budget_reserved: Reserved,
  cap_reserved: Reserved,
  blocked: Blocked,
  rate_limited: TooMany,
  idle_guard_unsupported: Unguarded,
  software_unsupported: Unfit,
  key_not_found: ({ error }) => <Told error={error} title={texts.keyTitle} text={texts.keyText} />,
  temporarily_unavailable: ({ error, onRetry }) => (
    <Told error={error} title={texts.notDoneTitle} text={texts.notDoneText} onRetry={onRetry} />
  ),
};

function Unguarded({ error }: WordsProps<'idle_guard_unsupported'>) {
  // A refusal made on demand has no details.
  const { misfits = [] } = error.details as Partial<typeof error.details>;
  const isOfUse = misfits.length > 0 && misfits.every(({ field }) => field === 'telemetry');
  return isOfUse ? (
    <Told error={error} title={idleTexts.useUnsupported} text={idleTexts.useUnsupportedText} />
  ) : (
    <Told error={error} title={idleTexts.unsupported} text={idleTexts.unsupportedText} />
  );
}

function Unfit({ error, onRetry }: WordsProps<'software_unsupported'>) {
  const told = misfitWords(error);
  if (told === undefined) return <ErrorNote error={error} title={texts.title} onRetry={onRetry} />;
  return (
    <Told error={error} title={ownSoftwareTexts.unsupported} text={told}>
      <p>{ownSoftwareTexts.unsupportedText}</p>
    </Told>
  );
}

function Other({ error, onRetry }: WordsProps) {
  return <ErrorNote error={error} title={texts.title} onRetry={onRetry} />;
}

/** The words of a code; those of the service itself where there are none here. */
function wordsOf(code: ErrorCode) {
  return (words[code] ?? Other) as typeof Other;
}
