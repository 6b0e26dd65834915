import assert from 'node:assert/strict';
import type { Message } from '../../../domain/mails/message.js';

/** A mail as its reader receives it, made from sample facts and expected line by line. */
export type Whole = readonly [title: string, made: Message, subject: string, lines: readonly string[]];

/** Checks a mail byte for byte, and that its page says the same in the same order. */
export function isWhole([, made, subject, lines]: Whole): void {
  assert.equal(made.subject, subject);
  assert.equal(made.text, lines.join('\n'));
  assert.ok(made.html !== null);
  assert.ok(made.html.startsWith('<!doctype html>\n<html lang="en">'));
  assert.equal(/<title>(.*)<\/title>/.exec(made.html)?.[1], escapedOf(subject));
  assert.equal(wordsOf(shownBy(made.html)), wordsOf(`${subject}\n${made.text}`));
  loadsNothing(made.html);
}

/** What a reader sees of a page, and where its links lead. */
function shownBy(html: string): string {
  const body = /<body[^>]*>(.*)<\/body>/s.exec(html)?.[1] ?? '';
  return body
    .replaceAll(/<a href="([^"]*)"[^>]*>([^<]*)<\/a>/g, '$2 $1')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}

/**
 * The words without what only separates: a colon after a name, and the label of a button of which the text has the
 * address alone.
 */
function wordsOf(text: string): string {
  return text
    .replaceAll('Approve and pay http', 'http')
    .replaceAll(/Pay here: ?$/g, '')
    .split(/\s+/)
    .map((word) => word.replace(/:$/, ''))
    .filter((word) => word !== '')
    .join(' ');
}

/** Fails for a page that would fetch, run or send anything. */
function loadsNothing(html: string): void {
  const tags = (html.match(/<[^>]*>/g) ?? []).join('');
  assert.doesNotMatch(tags, /<(script|img|link|iframe|form|video|audio|object|embed|svg)\b/i);
  assert.doesNotMatch(tags, /\b(src|background|on\w+)\s*=|url\(|@import/i);
}

function escapedOf(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll("'", '&#39;');
}
