import { useEffect, useState, type ReactNode } from 'react';
import { readableError } from '../data/errors.js';
import { span } from '../format/time.js';
import { errorTexts } from '../texts/errors.js';
import { Callout } from './badge.js';
import { Button } from './button.js';
import { classes } from './classes.js';
import { SupportLink } from './support-link.js';

/** Holds the place of what is coming: give it the size of that. */
export function Skeleton({ className }: { readonly className?: string }) {
  return (
    <span
      aria-hidden="true"
      className={classes('block animate-pulse rounded-md bg-sunken', className ?? 'h-5 w-24')}
    />
  );
}

interface EmptyStateProps {
  readonly title: string;
  readonly children?: ReactNode;
  readonly actions?: ReactNode;
}

/** What stands where a list has nothing: why, and what to do next. */
export function EmptyState({ title, children, actions }: EmptyStateProps) {
  return (
    <div className="flex flex-col items-center px-4 py-10 text-center">
      <p className="font-medium">{title}</p>
      {children !== undefined && <div className="mt-1 max-w-prose text-muted">{children}</div>}
      {actions !== undefined && <div className="mt-4 flex flex-wrap justify-center gap-2">{actions}</div>}
    </div>
  );
}

interface ErrorNoteProps {
  readonly error: unknown;
  readonly title?: string;
  readonly onRetry?: () => void;
}

/** A failure: what happened, what to do, when to try again, and the request's id for support. */
export function ErrorNote({ error, title = errorTexts.title, onRetry }: ErrorNoteProps) {
  const { message, nextStep, requestId, support, retryAfterSeconds } = readableError(error);
  const left = useCountdown(retryAfterSeconds ?? 0, error);
  return (
    <Callout
      role="alert"
      tone="bad"
      title={title}
      actions={
        onRetry && (
          <Button size="small" onClick={onRetry} disabled={left > 0}>
            {left > 0 ? errorTexts.retryIn(span(left)) : errorTexts.retry}
          </Button>
        )
      }
    >
      <p className="break-words">{message}</p>
      {nextStep !== undefined && <p>{nextStep}</p>}
      {support !== undefined && (
        <p>
          {errorTexts.support} <SupportLink contact={support} />
        </p>
      )}
      {requestId !== undefined && (
        <p className="mt-1 font-mono text-xs break-all text-soft">{errorTexts.requestId(requestId)}</p>
      )}
    </Callout>
  );
}

/** Counts whole seconds down to 0, from the start again for each new cause. */
export function useCountdown(seconds: number, cause: unknown): number {
  const [state, setState] = useState({ cause, left: seconds });
  if (state.cause !== cause) setState({ cause, left: seconds });
  const isRunning = state.left > 0;
  useEffect(() => {
    if (!isRunning) return undefined;
    const timer = setInterval(() => setState(({ left, ...rest }) => ({ ...rest, left: left - 1 })), 1_000);
    return () => clearInterval(timer);
  }, [isRunning, cause]);
  return state.left;
}
