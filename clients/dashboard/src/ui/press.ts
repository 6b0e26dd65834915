/** A press whose end is not told, as that of a scroll bar, is over after so many milliseconds. */
const LONGEST_MS = 2_000;

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

function begin(): void {
  waiting ??= [];
  endIn(LONGEST_MS);
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
