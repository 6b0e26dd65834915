import Bowser from 'bowser';

/** The longest User-Agent that is kept. */
const MAX_CHARS = 512;

/** A program that names itself first, as curl/8.5.0 does. */
const PROGRAM = /^(?<name>[A-Za-z][\w.-]{0,39})(?:\/|\s|$)/;

/** The User-Agent of a request, as it is kept; undefined when there is none. */
export function userAgentOf(header: string): string | undefined {
  const text = header.trim().slice(0, MAX_CHARS);
  return text === '' ? undefined : text;
}

/**
 * Tells people from what a session is used: `Firefox on Linux`, or a program by its name. What a client says of itself
 * proves nothing.
 * @returns null when it says nothing that can be read
 */
export function deviceOf(userAgent: string | null): string | null {
  if (userAgent === null) return null;
  const { browser, os } = Bowser.parse(userAgent);
  const name = textOf(browser.name) ?? PROGRAM.exec(userAgent)?.groups?.['name'];
  const system = textOf(os.name);
  if (name === undefined) return system ?? null;
  return system === undefined ? name : `${name} on ${system}`;
}

function textOf(text: string | undefined): string | undefined {
  return text === undefined || text === '' ? undefined : text;
}
