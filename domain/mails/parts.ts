/**
 * One line of a mail. A text is a line of a paragraph, and an empty one ends it. What follows one another of one kind
 * makes one paragraph, or one table.
 */
export type Part = string | Row | Link | Command;

/** A line of a table. */
export interface Row {
  readonly kind: 'row';
  /** The first one names the row. */
  readonly cells: readonly string[];
  /** What stands between them in plain text. */
  readonly between: string;
}

/** An address to open. */
export interface Link {
  readonly kind: 'link';
  readonly label: string;
  /** Empty when there is none yet. */
  readonly url: string;
  /** The line in plain text. */
  readonly line: string;
  /** Whether it is what the mail asks for: then it is shown as a button. */
  readonly isButton: boolean;
}

/** What an operator types. */
export interface Command {
  readonly kind: 'command';
  readonly line: string;
}

/** A fact with its name. */
export function fact(name: string, value: string): Row {
  return { kind: 'row', cells: [name, value], between: ': ' };
}

/** A line of a list, such as one machine of several. */
export function row(...cells: readonly string[]): Row {
  return { kind: 'row', cells, between: '  ' };
}

/** The one thing that a mail asks for. */
export function button(label: string, url: string): Link {
  return { kind: 'link', label, url, line: `${label}: ${url}`, isButton: true };
}

/** A button of which the plain text shows the address alone: the line before it says what it is for. */
export function bareButton(label: string, url: string): Link {
  return { kind: 'link', label, url, line: url, isButton: true };
}

/** A link that few readers want. */
export function quietLink(label: string, url: string): Link {
  return { kind: 'link', label, url, line: `${label}: ${url}`, isButton: false };
}

export function command(line: string): Command {
  return { kind: 'command', line };
}

/** The line of plain text. */
export function lineOf(part: Part): string {
  if (typeof part === 'string') return part;
  return part.kind === 'row' ? part.cells.join(part.between) : part.line;
}
