import type { ErrorComponentProps } from '@tanstack/react-router';
import { shellTexts } from '../texts/shell.js';
import { ErrorNote, Skeleton } from '../ui/states.js';

/** A page that failed as a whole. */
export function PageError({ error, reset }: ErrorComponentProps) {
  return (
    <div className="mx-auto w-full max-w-2xl p-4">
      <ErrorNote error={error} onRetry={reset} />
    </div>
  );
}

/** The same where no frame stands around it. */
export function ErrorAnywhere(props: ErrorComponentProps) {
  return (
    <main className="py-10">
      <PageError {...props} />
    </main>
  );
}

/** A page whose code is on its way. */
export function PagePending() {
  return (
    <div role="status" className="mx-auto flex w-full max-w-6xl flex-col gap-5 3xl:max-w-[130rem]">
      <span className="sr-only">{shellTexts.loading}</span>
      <Skeleton className="h-8 w-44" />
      <Skeleton className="h-40 w-full" />
      <Skeleton className="h-64 w-full" />
    </div>
  );
}
