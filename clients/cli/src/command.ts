import { readWritten, type EventType } from '@gpu-rental/client';
import { InvalidArgumentError, type Command } from 'commander';
import type { Cli } from './cli.js';
import { centsOf } from './output/money.js';
import { secondsOf } from './output/time.js';

/** What a command does; a number is its exit code. */
export type Handler<Args extends unknown[]> = (cli: Cli, ...args: Args) => Promise<number | undefined>;

/** Makes of a handler what commander calls. */
export type Act = <Args extends unknown[]>(
  handler: Handler<Args>,
) => (...given: [...Args, Command]) => Promise<void>;

/** Adds one command, or a group of them, to the program. */
export type AddCommand = (program: Command, act: Act) => void;

/** Reads dollars from the command line. */
export function dollars(text: string): number {
  const cents = centsOf(text);
  if (cents !== undefined) return cents;
  throw new InvalidArgumentError('It must be an amount in dollars, such as 20 or 12.50.');
}

/** Reads a length of time from the command line, in seconds. */
export function timeSpan(text: string): number {
  const seconds = secondsOf(text);
  if (seconds !== undefined) return seconds;
  throw new InvalidArgumentError('It must be a duration, such as 90m, 2h or 1h30m.');
}

/** Reads an instant from the command line; a day begins in the time zone of this machine. */
export function instant(text: string): string {
  const at = readWritten(text);
  if (at) return at.toISOString();
  throw new InvalidArgumentError('It must be a valid date or time, such as 2026-11-21 or 2026-11-21T09:30.');
}

/** Reads a whole number from the command line. */
export function wholeNumber(min: number, max: number) {
  return (text: string): number => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}

/** Reads types of events, separated by commas. The service says which of them are none. */
export function eventTypes(text: string): EventType[] {
  return text.split(',').map((type) => type.trim() as EventType);
}

/** Collects the values of an option that may be given several times. */
export function collect(text: string, before: readonly string[] = []): string[] {
  return [...before, text];
}

/** Collects pairs, which are written as key=value. */
function pairs(advice: string) {
  return (text: string, before: Readonly<Record<string, string>> = {}): Record<string, string> => {
    const at = text.indexOf('=');
    if (at < 1) throw new InvalidArgumentError(advice);
    return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
  };
}

/** Collects labels. */
export const label = pairs('Write a label as key=value.');
/** Collects variables of what runs on a machine. */
export const variable = pairs('Write a variable as KEY=value.');
