import { useEffect, useRef, useState, type RefObject, type SubmitEvent } from 'react';
import { cardTexts as t } from '../texts/card.js';
import { Callout } from '../ui/badge.js';
import { Button } from '../ui/button.js';
import { Skeleton } from '../ui/states.js';
import { useGoneBack } from '../ui/use-gone-back.js';
import { appearanceOf } from './appearance.js';
import { loadStripe, type Stripe, type StripeElements, type StripeError } from './stripe.js';

interface CardFormProps {
  readonly clientSecret: string;
  readonly publishableKey: string;
  /** Where the bank's page leads back to. */
  readonly returnUrl: string;
  /** The processor has taken the card; the service will say when it has it. */
  readonly onSaved: () => void;
}

/** The processor's own form, which takes the card in a frame that this page can't look into. */
export function CardForm({ clientSecret, publishableKey, returnUrl, onSaved }: CardFormProps) {
  const place = useRef<HTMLDivElement>(null);
  const form = useProcessorForm(place, clientSecret, publishableKey);
  const [isSaving, setSaving] = useState(false);
  const [error, setError] = useState<StripeError>();
  useGoneBack(() => setSaving(false));
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    if (form.state !== 'ready' || isSaving) return;
    setSaving(true);
    setError(undefined);
    const failure = await confirm(form.tools, clientSecret, returnUrl);
    if (failure === undefined) {
      onSaved();
      return;
    }
    setError(failure);
    setSaving(false);
  };
  if (form.state === 'failed') return <ScriptFailed onRetry={form.retry} />;
  return (
    <form className="flex flex-col gap-4" onSubmit={(event) => void submit(event)}>
      <div className={form.state === 'loading' ? 'relative min-h-60' : undefined}>
        {form.state === 'loading' && (
          <div role="status" className="absolute inset-0 flex flex-col gap-3">
            <span className="sr-only">{t.loading}</span>
            <Skeleton className="h-16 w-full" />
            <Skeleton className="h-16 w-full" />
            <Skeleton className="h-16 w-full" />
          </div>
        )}
        <div ref={place} />
      </div>
      {error && (
        <Callout role="alert" tone="bad" title={t.failedTitle}>
          {textOf(error)}
        </Callout>
      )}
      <Button look="primary" type="submit" isBusy={isSaving} disabled={form.state !== 'ready'}>
        {isSaving ? t.saving : t.save}
      </Button>
      <p className="text-[13px] text-muted">{t.consent}</p>
    </form>
  );
}

interface Tools {
  readonly stripe: Stripe;
  readonly elements: StripeElements;
}

type ProcessorForm =
  | { readonly state: 'loading' }
  | { readonly state: 'ready'; readonly tools: Tools }
  | { readonly state: 'failed'; readonly retry: () => void };

/** Loads the script and mounts the form; a form that did not load can be asked for again. */
function useProcessorForm(
  place: RefObject<HTMLDivElement | null>,
  clientSecret: string,
  publishableKey: string,
): ProcessorForm {
  const [tools, setTools] = useState<Tools>();
  const [isFailed, setFailed] = useState(false);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    let end: (() => void) | undefined;
    let isOver = false;
    const start = async (): Promise<void> => {
      try {
        const make = await loadStripe();
        const { current } = place;
        if (isOver || current === null) return;
        const stripe = make(publishableKey);
        const elements = stripe.elements({
          clientSecret,
          appearance: appearanceOf(current),
          loader: 'always',
        });
        const element = elements.create('payment', { layout: 'tabs' });
        element.on('ready', () => !isOver && setTools({ stripe, elements }));
        element.on('loaderror', () => !isOver && setFailed(true));
        element.mount(current);
        end = () => element.destroy();
      } catch {
        if (!isOver) setFailed(true);
      }
    };
    void start();
    return () => {
      isOver = true;
      end?.();
    };
  }, [place, clientSecret, publishableKey, attempt]);
  if (isFailed) {
    return {
      state: 'failed',
      retry: () => {
        setFailed(false);
        setTools(undefined);
        setAttempt(attempt + 1);
      },
    };
  }
  return tools === undefined ? { state: 'loading' } : { state: 'ready', tools };
}

/** Saves the card. @returns why not; undefined once the processor has it, or is about to */
async function confirm(
  { stripe, elements }: Tools,
  clientSecret: string,
  returnUrl: string,
): Promise<StripeError | undefined> {
  try {
    const { error, setupIntent } = await stripe.confirmSetup({
      elements,
      clientSecret,
      confirmParams: { return_url: returnUrl },
      redirect: 'if_required',
    });
    if (error === undefined) return isTaken(setupIntent.status) ? undefined : { type: setupIntent.status };
    // A press before has saved it, and its answer was lost.
    return isTaken(error.setup_intent?.status) ? undefined : error;
  } catch {
    return { type: 'api_connection_error' };
  }
}

function isTaken(status: string | undefined): boolean {
  return status === 'succeeded' || status === 'processing';
}

/** The processor's texts are for people where the card or a field is at fault. */
function textOf({ type, message }: StripeError): string {
  const isForPeople = type === 'card_error' || type === 'validation_error';
  return isForPeople && message !== undefined ? message : t.failed;
}

function ScriptFailed({ onRetry }: { readonly onRetry: () => void }) {
  return (
    <Callout
      role="alert"
      tone="bad"
      title={t.scriptTitle}
      actions={<Button onClick={onRetry}>{t.retry}</Button>}
    >
      {t.script}
    </Callout>
  );
}
