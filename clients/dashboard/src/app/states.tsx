import { Link, type ErrorComponentProps } from '@tanstack/react-router';
import { errorTexts } from '../texts/errors.js';
import { shellTexts } from '../texts/shell.js';
import { buttonClasses } from '../ui/button.js';
import { Page } from '../ui/page.js';
import { EmptyState, ErrorNote, Skeleton } from '../ui/states.js';

/** A page that failed as a whole. */
export function PageError({ error, reset }: ErrorComponentProps) {
  return (
    <div className="mx-auto w-full max-w-2xl p-4">
      <ErrorNote error={error} onRetry={reset} />
    </div>
  );
}

/** A page whose code is on its way. */
export function PagePending() {
  return (
    <div role="status" className="mx-auto flex w-full max-w-6xl flex-col gap-5">
      <span className="sr-only">{shellTexts.loading}</span>
      <Skeleton className="h-8 w-44" />
      <Skeleton className="h-40 w-full" />
      <Skeleton className="h-64 w-full" />
    </div>
  );
}

/** An address that leads nowhere. */
export function NotFound() {
  return (
    <Page title={errorTexts.notFoundTitle}>
      <EmptyState
        title={errorTexts.notFound}
        actions={
          <Link to="/app" className={buttonClasses('primary')}>
            {errorTexts.home}
          </Link>
        }
      />
    </Page>
  );
}

/** The same where no frame stands around it. */
export function NotFoundAnywhere() {
  return (
    <main className="px-4 py-10">
      <NotFound />
    </main>
  );
}
