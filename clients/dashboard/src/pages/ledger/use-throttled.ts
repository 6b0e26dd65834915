import { useCallback, useEffect, useRef, useState } from 'react';

/**
 * A state that follows what it is offered at most once in so many milliseconds: what flies past is never seen. An offer
 * by itself draws nothing anew.
 * @returns the state, and a function of lasting identity that offers the next one
 */
export function useThrottled<T>(first: T, everyMs: number): readonly [T, (value: T) => void] {
  const [seen, setSeen] = useState(first);
  const newest = useRef(first);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const offer = useCallback(
    (value: T) => {
      newest.current = value;
      timer.current ??= setTimeout(() => {
        timer.current = undefined;
        setSeen(newest.current);
      }, everyMs);
    },
    [everyMs],
  );
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      timer.current = undefined;
    },
    [],
  );
  return [seen, offer];
}
