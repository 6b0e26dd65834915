import assert from 'node:assert/strict';
import type { Message } from '../../../domain/mails/message.js';

/** A mail as its reader receives it, made from sample facts and expected line by line. */
export type Whole = readonly [title: string, made: Message, subject: string, lines: readonly string[]];

/** Checks a mail byte for byte. */
export function isWhole([, made, subject, lines]: Whole): void {
  assert.deepEqual(made, { subject, text: lines.join('\n') });
}
