import fastStringWidth from 'fast-string-width';

/** Takes out of a text what could move the cursor or change colours: names and messages come from elsewhere. */
export { plainText as plain } from '@gpu-rental/client';

/** The columns that a text takes in a terminal; escape sequences take none. */
export function widthOf(text: string): number {
  return fastStringWidth(text);
}

/** Fills a text with spaces up to a width. */
export function pad(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const space = ' '.repeat(Math.max(0, width - widthOf(text)));
  return align === 'right' ? space + text : text + space;
}

/** Sets lines apart from those before them; nothing where there are none. */
export function apart(lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', ...lines];
}

/** Cuts a text that is wider than a width, and shows by a dot that it was cut. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = '';
  for (const sign of text) {
    if (widthOf(kept + sign) > width - 1) break;
    kept += sign;
  }
  return `${kept}…`;
}

/** Breaks a text between words, so that no line is wider than a width unless one word is. */
export function wrap(text: string, width: number, indent = ''): string[] {
  return text.split('\n').flatMap((line) => wrapLine(line, Math.max(1, width), indent));
}

function wrapLine(line: string, width: number, indent: string): string[] {
  if (widthOf(line) <= width) return [line];
  const lines: string[] = [];
  let current = /^ */.exec(line)?.[0] ?? '';
  let isEmpty = true;
  for (const word of line.trim().split(/ +/)) {
    const longer = isEmpty ? current + word : `${current} ${word}`;
    if (isEmpty || widthOf(longer) <= width) {
      current = longer;
    } else {
      lines.push(current);
      current = indent + word;
    }
    isEmpty = false;
  }
  return [...lines, current];
}

/** Writes a number with its noun: 1 "GPU", 2 "GPUs". */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? noun : plural}`;
}
