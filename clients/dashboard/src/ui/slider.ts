import type { KeyboardEvent, PointerEvent } from 'react';

interface SliderParts {
  /** What is walked through, in a sentence. */
  readonly label: string;
  /** How many places there are. */
  readonly count: number;
  /** The place that is told. */
  readonly at: number;
  /** What stands there. */
  readonly text: string;
  /** How far Page Up and Page Down go. */
  readonly page: number;
  /** Leads to another place; undefined: nobody points at one any more. */
  readonly move: (to: number | undefined) => void;
}

/** The properties by which a drawing is walked through by the keyboard, and told to screen readers place by place. */
export function sliderProps({ label, count, at, text, page, move }: SliderParts) {
  return {
    role: 'slider',
    tabIndex: 0,
    'aria-label': label,
    'aria-valuemin': 0,
    'aria-valuemax': count - 1,
    'aria-valuenow': at,
    'aria-valuetext': text,
    onFocus: () => move(at),
    onBlur: () => move(undefined),
    onKeyDown: (event: KeyboardEvent) => {
      const steps: Readonly<Record<string, number>> = {
        ...{ ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 },
        ...{ PageDown: -page, PageUp: page, Home: -count, End: count },
      };
      const step = steps[event.key];
      if (step === undefined) return;
      event.preventDefault();
      move(Math.min(count - 1, Math.max(0, at + step)));
    },
  };
}

/**
 * The place that stands nearest to the pointer.
 * @param xs where each place stands, of a drawing that is `width` wide
 */
export function nearestPlace(
  { currentTarget, clientX }: PointerEvent,
  xs: readonly number[],
  width: number,
): number {
  const box = currentTarget.getBoundingClientRect();
  const x = ((clientX - box.left) / box.width) * width;
  const distances = xs.map((each) => Math.abs(each - x));
  return distances.indexOf(Math.min(...distances));
}
