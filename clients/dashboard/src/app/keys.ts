import { useRouter } from '@tanstack/react-router';
import { useEffect, useEffectEvent } from 'react';
import type { NavigationPage } from './pages.js';

/** The letters that open a page after a “g”. */
export const pageKeys: Readonly<Record<string, NavigationPage['to']>> = {
  o: '/app',
  n: '/app/rent',
  r: '/app/rentals',
  b: '/app/billing',
  l: '/app/ledger',
  s: '/app/statements',
  i: '/app/invoices',
  k: '/app/keys',
  a: '/app/activity',
};

const SEQUENCE_MS = 1_500;

interface ShortcutActions {
  readonly onPalette: () => void;
  readonly onHelp: () => void;
}

/** Keyboard shortcuts of every page. None acts while somebody types. */
export function useShortcuts({ onPalette, onHelp }: ShortcutActions): void {
  const router = useRouter();
  const act = useEffectEvent((event: KeyboardEvent, isAfterG: boolean) => {
    const key = event.key.toLowerCase();
    if (key === 'k' && (event.ctrlKey || event.metaKey)) onPalette();
    else if (isPlain(event) && event.key === '?') onHelp();
    else if (isPlain(event) && isAfterG && key in pageKeys)
      void router.navigate({ to: pageKeys[key] ?? '/app' });
    else return;
    event.preventDefault();
  });
  useEffect(() => {
    let sinceG = -Infinity;
    const onKey = (event: KeyboardEvent): void => {
      act(event, event.timeStamp - sinceG < SEQUENCE_MS);
      sinceG = event.key === 'g' && isPlain(event) ? event.timeStamp : -Infinity;
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}

/** A key that writes nothing and commands nothing else. */
function isPlain({ ctrlKey, metaKey, altKey, target, defaultPrevented }: KeyboardEvent): boolean {
  if (ctrlKey || metaKey || altKey || defaultPrevented) return false;
  return !(
    target instanceof Element &&
    target.closest('input, textarea, select, [contenteditable], dialog, [role=dialog]')
  );
}
