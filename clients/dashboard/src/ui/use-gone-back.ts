import { useEffect, useEffectEvent } from 'react';

/**
 * Does something when somebody goes back to this page, which the browser then shows as it was left.
 * @param onBack such as to let go of a button that waited for the page to be left
 */
export function useGoneBack(onBack: () => void): void {
  const onShow = useEffectEvent(({ persisted }: PageTransitionEvent) => {
    if (persisted) onBack();
  });
  useEffect(() => {
    addEventListener('pageshow', onShow);
    return () => removeEventListener('pageshow', onShow);
  }, []);
}
