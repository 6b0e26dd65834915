import { useState } from 'react';

interface Fields<Stored extends object> {
  /** What stands in the form: what was typed, and elsewhere what is stored by now. */
  readonly fields: Stored;
  readonly change: (typed: Partial<Stored>) => void;
  /** What was typed is stored, or given up. */
  readonly forget: () => void;
}

/**
 * The fields of a form that changes something. What nobody touched follows what is stored, which others may change while
 * the form is open: it is never sent as it was before.
 */
export function useFields<Stored extends object>(stored: Stored): Fields<Stored> {
  const [typed, setTyped] = useState<Partial<Stored>>({});
  return {
    fields: { ...stored, ...typed },
    change: (more) => setTyped((before) => differing({ ...before, ...more }, stored)),
    forget: () => setTyped({}),
  };
}

/** What was typed, without what is stored anyway. */
function differing<Stored extends object>(typed: Partial<Stored>, stored: Stored): Partial<Stored> {
  const differ = Object.entries(typed).filter(([name, value]) => value !== stored[name as keyof Stored]);
  return Object.fromEntries(differ) as Partial<Stored>;
}
