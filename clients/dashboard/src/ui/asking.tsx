import { Skeleton } from './states.js';

/** Holds the place of a form while it is asked what became of the one that was sent before. */
export function Asking({ label }: { readonly label: string }) {
  return (
    <div role="status">
      <span className="sr-only">{label}</span>
      <Skeleton className="h-59 w-full" />
    </div>
  );
}
