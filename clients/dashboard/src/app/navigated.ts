import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';

/**
 * Leads the focus to a new page's heading, so that a screen reader says where one is and the next Tab goes on from
 * there. What has taken the focus by itself keeps it, and so does a page of which only the search part changed.
 */
export function useFocusOnNavigation(): void {
  const router = useRouter();
  useEffect(
    () =>
      router.subscribe('onRendered', ({ fromLocation, toLocation }) => {
        if (fromLocation === undefined || fromLocation.pathname === toLocation.pathname) return;
        const main = document.getElementById('content');
        if (main === null || isWithin(main, document.activeElement)) return;
        const heading = main.querySelector('h1') ?? main;
        heading.tabIndex = -1;
        heading.focus({ preventScroll: true });
      }),
    [router],
  );
}

/** Whether a part of the page has the focus: a field of its own, but not what is about to go. */
function isWithin(main: Element, focused: Element | null): boolean {
  return focused !== null && focused !== main && focused.tagName !== 'H1' && main.contains(focused);
}
