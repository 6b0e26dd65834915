/** What a mail says: made from facts alone, so that each can be read whole in a test. */
export interface Message {
  readonly subject: string;
  /** Plain text. */
  readonly text: string;
}

/** A message of these lines. */
export function messageOf(subject: string, lines: readonly string[]): Message {
  return { subject, text: lines.join('\n') };
}

/** The last line of what a user may not have expected. */
export const answerToSupport = 'If you did not expect this, answer to support.';
