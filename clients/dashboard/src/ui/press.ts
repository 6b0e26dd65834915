/** A press whose end is not told is over after so many milliseconds. */
const LONGEST_MS = 10_000;
/** No scroll bar tells its end: a list goes on while somebody drags one. */
const LONGEST_ON_BAR_MS = 2_000;

/** What waits for the end of a press; undefined while nothing is pressed. */
let waiting: (() => void)[] | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Does something at once, or when what is pressed now was let go: what a click is meant for stays under the pointer. */
export function afterPress(act: () => void): void {
  if (waiting) waiting.push(act);
  else act();
}

/** Takes note of presses, for as long as the document is there. */
export function watchPresses(): void {
  document.addEventListener('pointerdown', begin, true);
  // The click comes before whatever has waited.
  for (const name of ['pointerup', 'pointercancel']) document.addEventListener(name, endSoon, true);
}

function begin(press: PointerEvent): void {
  waiting ??= [];
  endIn(isOnBar(press) ? LONGEST_ON_BAR_MS : LONGEST_MS);
}

/** Whether a press is on the scroll bar of what it meets: beyond what that shows of itself. */
function isOnBar({ target, clientX, clientY }: PointerEvent): boolean {
  if (!(target instanceof Element)) return false;
  const { left, top } =
    target === document.documentElement ? { left: 0, top: 0 } : target.getBoundingClientRect();
  const { clientLeft, clientTop, clientWidth, clientHeight } = target;
  // What lies in a line of text has no size of its own.
  if (clientWidth === 0) return false;
  return clientX >= left + clientLeft + clientWidth || clientY >= top + clientTop + clientHeight;
}

const endSoon = (): void => endIn(0);

function endIn(milliseconds: number): void {
  clearTimeout(timer);
  timer = setTimeout(end, milliseconds);
}

function end(): void {
  const acts = waiting ?? [];
  waiting = undefined;
  for (const act of acts) act();
}
