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
    return `\u001b[${on}m${text}\u001b[${off}m`;
  };
}

/** Tells whether a stream may get colours. */
export function hasColours(
  stream: { readonly isTTY?: boolean | undefined },
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  return stream.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
}
