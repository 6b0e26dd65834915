import { useState, type FocusEvent } from 'react';

/**
 * Tells whether somebody points at a part of the page or has the focus in it: what lies there must not move meanwhile.
 * @returns that, and what the part's element listens with
 */
export function useHeld() {
  const [isPointedAt, setPointedAt] = useState(false);
  const [hasFocus, setFocus] = useState(false);
  return {
    isHeld: isPointedAt || hasFocus,
    hold: {
      onPointerEnter: (): void => setPointedAt(true),
      onPointerLeave: (): void => setPointedAt(false),
      onFocus: (): void => setFocus(true),
      onBlur: ({ currentTarget, relatedTarget }: FocusEvent): void =>
        setFocus(currentTarget.contains(relatedTarget)),
    },
  };
}
