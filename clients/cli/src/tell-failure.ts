import type { Told } from './explain-failure.js';
import { exitCodes } from './exit-codes.js';
import { createPaint, printable, printableJson } from './output/colour.js';
import { wrap } from './output/text.js';
import type { Surroundings } from './surroundings.js';

const usualWidth = 80;

/** Tells a failure on the standard error: what is wrong, what to do next, the request's id for support, and support. */
export function tellFailure(
  { kind, code, message, next, requestId, support, details }: Told,
  { surroundings, isJson }: { readonly surroundings: Surroundings; readonly isJson: boolean },
): void {
  const { stderr, env } = surroundings;
  if (isJson) {
    const told = { error: code, message, next, requestId, support, details, exitCode: exitCodes[kind] };
    stderr.write(`${printableJson(told, 2)}\n`);
    return;
  }
  const paint = createPaint(stderr, env);
  const width = stderr.isTTY === true && stderr.columns ? stderr.columns : usualWidth;
  const told = (text: string): string[] => wrap(printable(text), width);
  const lines = [
    ...told(message),
    ...(next === undefined ? [] : told(next)),
    ...(requestId === undefined ? [] : [paint('dim', `Request ${requestId}`)]),
    ...(support === undefined ? [] : [paint('dim', `Support ${support}`)]),
  ];
  stderr.write(printable(lines.map((line) => `${line}\n`).join('')));
}
