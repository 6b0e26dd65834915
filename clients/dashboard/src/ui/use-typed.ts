import { useEffect, useRef, useState } from 'react';

/** How long a pause in typing is, in milliseconds. */
const PAUSE_MS = 400;

/**
 * A text that is typed here and kept elsewhere, as in the address: it is told after a pause, and on leaving the field.
 * What changes elsewhere comes back, unless somebody is typing.
 * @param keptOf how a text is kept: what comes back of one's own text leaves it as it was typed
 */
export function useTyped(
  kept: string,
  keep: (text: string) => void,
  keptOf: (text: string) => string = (text) => text.trim(),
) {
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
    const timer = setTimeout(() => {
      setState((before) => ({ ...before, isTyping: false }));
      tell.current(text);
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, isTyping]);
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
