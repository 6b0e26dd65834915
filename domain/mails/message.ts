import { htmlOf, withMore } from './html.js';
import { lineOf, type Link, type Part } from './parts.js';

/** The words of a mail. They depend on facts alone, so that a test can read each mail whole. */
export interface Message {
  readonly subject: string;
  /** Plain text. */
  readonly text: string;
  /** The same as a page; null where only the text is known, as in what release 0.1 wrote down. */
  readonly html: string | null;
}

/** Makes both parts of a message from one list, so that they can't disagree. */
export function messageOf(subject: string, parts: readonly Part[]): Message {
  return { subject, text: parts.map(lineOf).join('\n'), html: htmlOf(subject, parts) };
}

/** The last line of a mail that a user may not expect. */
export const answerToSupport = 'If you did not expect this, contact support.';

/**
 * Adds to a mail where its reader gets help.
 * @param contact a mail address or an https address; null: nobody is named
 */
export function withSupport(message: Message, contact: string | null): Message {
  if (contact === null) return message;
  const label = 'Contact support';
  const url = contact.includes('://') ? contact : `mailto:${contact}`;
  const link: Link = { kind: 'link', label, url, line: `${label}: ${contact}`, isButton: false };
  return {
    subject: message.subject,
    text: `${message.text}\n\n${link.line}`,
    html: message.html === null ? null : withMore(message.html, [link]),
  };
}
