import { useEffect, useState } from 'react';

/** From then on somebody is told that it takes longer than usual. */
export const LATE_AFTER_MS = 60_000;

/** Tells whether the component has been waiting for longer than usual. */
export function useLate(): boolean {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), LATE_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  return isLate;
}

/** How long until the service is asked again: soon at first, less often once it takes long. */
export function pauseMs(isLate: boolean): number {
  return isLate ? 10_000 : 1_500;
}
