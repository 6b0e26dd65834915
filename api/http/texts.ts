/** The signs that the texts of requests may have: all that Postgres can hold and a terminal can show. */
export const textKinds = {
  /** One line: no control characters, no halves of characters. */
  text: { name: 'text without control characters', refused: String.raw`\u0000-\u001f\u007f-\u009f` },
  /** The same with tabs and line breaks. */
  lines: {
    name: 'text without control characters other than tabs and line breaks',
    refused: String.raw`\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f`,
  },
} as const;

export type TextKind = keyof typeof textKinds;

/** Such a text, as a regular expression of JSON Schema. JSON has no halves of characters. */
export function textPattern(kind: TextKind): string {
  return `^${signs(kind)}*$`;
}

/** One sign of such a text. */
export function signs(kind: TextKind): string {
  return `[^${textKinds[kind].refused}]`;
}
