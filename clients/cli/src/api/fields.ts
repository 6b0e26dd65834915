import { readFileSync } from 'node:fs';
import { InvalidArgumentError } from 'commander';
import { usageFailure } from '../failure.js';
import type { InStream } from '../surroundings.js';

/** A field of a request as it is written on the command line. */
export interface Field {
  readonly name: string;
  readonly text: string;
  /** Numbers, true, false and null are such, and @FILE is what a file holds; otherwise it is a text as it is. */
  readonly isTyped: boolean;
}

/** Collects fields, which are written as name=value. */
export function fieldOption(isTyped: boolean) {
  return (given: string, before: readonly Field[] = []): Field[] => {
    const at = given.indexOf('=');
    if (at < 1) throw new InvalidArgumentError('Write a field as name=value.');
    return [...before, { name: given.slice(0, at), text: given.slice(at + 1), isTyped }];
  };
}

/** The value that a field has in a request. */
export async function valueOf({ text, isTyped }: Field, stdin: InStream): Promise<unknown> {
  if (!isTyped) return text;
  if (text.startsWith('@')) return (await readInput(text.slice(1), stdin)).replace(/\r?\n$/, '');
  if (/^(true|false|null|-?\d+(\.\d+)?)$/.test(text)) return JSON.parse(text) as unknown;
  return text;
}

/** Reads a file; - is the standard input. */
export async function readInput(file: string, stdin: InStream): Promise<string> {
  if (file !== '-') return readFileSync(file, 'utf8');
  const chunks = (await stdin.toArray()) as (Buffer | string)[];
  return Buffer.concat(chunks.map((chunk) => Buffer.from(chunk))).toString('utf8');
}

/**
 * Puts a value into a body: `name`, `labels[team]` inside of an object, `types[]` at the end of a list.
 * @throws Failure for a name that is written otherwise, and for one that has a value already
 */
export function putField(body: unknown, name: string, value: unknown): unknown {
  const [, first, rest = ''] = /^([^[\]]+)((?:\[[^[\]]*\])*)$/.exec(name) ?? [];
  if (first === undefined) {
    throw usageFailure(`"${name}" is not the name of a field.`, 'Write it as name, name[inner] or name[].');
  }
  const inner = [...rest.matchAll(/\[([^[\]]*)\]/g)].map(([, part = '']) => part);
  return put(body, [first, ...inner], value, name);
}

function put(before: unknown, [part, ...rest]: readonly string[], value: unknown, name: string): unknown {
  if (part === undefined) {
    if (before !== undefined) throw contradiction(name);
    return value;
  }
  if (part === '') return [...listOf(before, name), put(undefined, rest, value, name)];
  if (before !== undefined && !isObject(before)) throw contradiction(name);
  const fields = before ?? {};
  const own = Object.hasOwn(fields, part) ? fields[part] : undefined;
  return { ...fields, [part]: put(own, rest, value, name) };
}

function listOf(before: unknown, name: string): readonly unknown[] {
  if (before === undefined) return [];
  if (Array.isArray(before)) return before;
  throw contradiction(name);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function contradiction(name: string): Error {
  return usageFailure(`"${name}" contradicts another field.`, 'Name each field once.');
}
