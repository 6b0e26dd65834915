import { useEffect, useRef, useState } from 'react';
import { afterPress } from './press.js';

/** How long a pause in typing is, in milliseconds. */
const PAUSE_MS = 400;

interface Typing {
  readonly kept: string;
  readonly keep: (text: string) => void;
  /** How a text is kept: what comes back of one's own text leaves it as it was typed. */
  readonly keptOf: ((text: string) => string) | undefined;
  readonly isFilter: boolean;
}

/**
 * A text that is typed here and kept elsewhere, as in the address: it is told after a pause, and on leaving the field.
 * What changes elsewhere comes back, unless somebody is typing.
 * @param keptOf how a text is kept; default: trimmed
 */
export function useTyped(kept: string, keep: Typing['keep'], keptOf?: Typing['keptOf']) {
  return useTyping({ kept, keep, keptOf, isFilter: false });
}

/**
 * The same for what narrows a list by the address. It leaves the list alone on leaving the field and while something is
 * pressed, since the list moves under the pointer, and forgets what was typed once the page is left or its filters are cleared.
 */
export function useTypedFilter(kept: string, keep: Typing['keep'], keptOf?: Typing['keptOf']) {
  const { value, onChange } = useTyping({ kept, keep, keptOf, isFilter: true });
  return { value, onChange };
}

function useTyping({ kept, keep, keptOf = (text) => text.trim(), isFilter }: Typing) {
  const [state, setState] = useState({ kept, text: kept, isTyping: false });
  if (state.kept !== kept) {
    const isOwn = state.isTyping || keptOf(state.text) === kept;
    setState({ ...state, kept, text: isOwn ? state.text : kept });
  }
  const { text, isTyping } = state;
  const tell = useRef(keep);
  useEffect(() => {
    tell.current = keep;
  });
  useEffect(() => {
    if (!isTyping) return undefined;
    const typedAt = location.href;
    let isOver = false;
    const finish = (): void => {
      if (isOver) return;
      const isPast = isFilter && isLeft(typedAt);
      setState((before) => ({ ...before, isTyping: false, text: isPast ? before.kept : before.text }));
      if (!isPast) tell.current(text);
    };
    const timer = setTimeout(isFilter ? () => afterPress(finish) : finish, PAUSE_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [text, isTyping, isFilter]);
  return {
    value: text,
    onChange: (event: { readonly target: { readonly value: string } }) => {
      const { value } = event.target;
      setState((before) => ({ ...before, text: value, isTyping: true }));
    },
    onBlur: () => {
      if (!isTyping) return;
      setState((before) => ({ ...before, isTyping: false }));
      keep(text);
    },
  };
}

/** Tells whether the page of an address has been left since, or its filters cleared. */
export function isLeft(address: string): boolean {
  const { pathname, search } = new URL(address);
  return pathname !== location.pathname || (search !== '' && location.search === '');
}

/**
 * Tells only the last of several values that come one soon after the other.
 * @returns a function that is told each value, and one that ends the pause
 */
export function useAfterPause<T>(tell: (value: T) => void): readonly [(value: T) => void, () => void] {
  const newest = useRef(tell);
  const waiting = useRef<{ readonly timer: ReturnType<typeof setTimeout>; readonly value: T }>(undefined);
  useEffect(() => {
    newest.current = tell;
  });
  useEffect(() => () => clearTimeout(waiting.current?.timer), []);
  const now = (): void => {
    if (!waiting.current) return;
    const { timer, value } = waiting.current;
    clearTimeout(timer);
    waiting.current = undefined;
    newest.current(value);
  };
  const later = (value: T): void => {
    clearTimeout(waiting.current?.timer);
    waiting.current = { timer: setTimeout(now, PAUSE_MS), value };
  };
  return [later, now];
}
