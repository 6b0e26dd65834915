import { heading } from './document.js';

/** What a call that waits is called where it does not. The order counts: longer names first. */
const RENAMED: readonly (readonly [RegExp, string])[] = [
  [/\basync (?=def|with|for)/g, ''],
  [/\bawait /g, ''],
  [/\basyncio\b/g, 'time'],
  [/\bAsync(?=[A-Z]\w*)/g, ''],
  [/\b__a(enter|exit|iter|next)__\b/g, '__$1__'],
  [/\ba(connect_sse|iter_sse|iter_bytes|close|read)\b/g, '$1'],
  [/\b_async\b/g, '_sync'],
];

/**
 * Makes of a module whose calls wait the same one whose calls block: one text for both, so that they can't drift.
 * @param text of a module of _async
 * @returns that of _sync
 */
export function withoutWaiting(text: string, name: string): string {
  const body = text.replace(/^"""[\s\S]*?"""\n/, '');
  const blocking = RENAMED.reduce((made, [from, to]) => made.replace(from, to), body);
  return heading(`As _async/${name}, for programs that block.`, `_async/${name}`) + blocking;
}
