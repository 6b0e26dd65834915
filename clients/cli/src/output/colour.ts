import { randomInt } from 'node:crypto';
import { plain } from './text.js';

/** Tells the colours of this process from those that a text from elsewhere brings along. */
const mark = String(randomInt(100_000_000, 1_000_000_000));
const marked = new RegExp(String.raw`(\u001b\[${mark};\d+m)`);

const codes = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
};

export type Colour = keyof typeof codes;

/** Dresses a text in a colour, or leaves it as it is. */
export type Paint = (colour: Colour, text: string) => string;

/**
 * Chooses whether there are colours: only at a terminal, and neither under NO_COLOR (https://no-color.org) nor where
 * the terminal has none.
 */
export function createPaint(
  stream: { readonly isTTY?: boolean | undefined },
  env: Readonly<Record<string, string | undefined>>,
): Paint {
  if (!hasColours(stream, env)) return (_colour, text) => text;
  return (colour, text) => {
    const [on, off] = codes[colour];
    return `\u001b[${mark};${on}m${text}\u001b[${mark};${off}m`;
  };
}

/** Tells whether a stream may get colours. */
export function hasColours(
  stream: { readonly isTTY?: boolean | undefined },
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  return stream.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
}

/** A text as a terminal may get it: of what steers a terminal, line breaks and the colours of `Paint` alone are left. */
export function printable(text: string): string {
  const line = (given: string): string =>
    given
      .split(marked)
      .map((part, index) => (index % 2 === 1 ? part.replace(`${mark};`, '') : plain(part)))
      .join('');
  return text.split('\n').map(line).join('\n');
}

/** A value as JSON whose texts hold nothing that steers a terminal: programs read the same. */
export function printableJson(value: unknown, space?: number): string {
  return JSON.stringify(value, null, space).replace(
    /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
