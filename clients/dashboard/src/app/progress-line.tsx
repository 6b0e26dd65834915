import { useRouterState } from '@tanstack/react-router';
import { shellTexts } from '../texts/shell.js';

/** A line along the top while a page takes longer than one would notice. */
export function ProgressLine() {
  const isPending = useRouterState({ select: ({ status }) => status === 'pending' });
  if (!isPending) return null;
  return (
    <div
      role="progressbar"
      aria-label={shellTexts.loading}
      className="progress-line fixed inset-x-0 top-0 z-60 h-0.5 origin-left bg-accent"
    />
  );
}
