/** The words of a mail. They depend on facts alone, so that a test can read each mail whole. */
export interface Message {
  readonly subject: string;
  /** Plain text. */
  readonly text: string;
}

/** Makes a message from lines. */
export function messageOf(subject: string, lines: readonly string[]): Message {
  return { subject, text: lines.join('\n') };
}

/** The last line of a mail that a user may not expect. */
export const answerToSupport = 'If you did not expect this, answer to support.';
