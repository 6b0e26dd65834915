import type { Event, EventType } from '@gpu-rental/client';
import { money } from '../../format/money.js';
import { number } from '../../format/number.js';
import { fullTime } from '../../format/time.js';
import { activityTexts, type Told } from '../../texts/activity.js';

/** Reads what an event or a record holds. */
export function toldBy(data: Readonly<Record<string, unknown>>): Told {
  const { unknown } = activityTexts;
  return {
    money: (name) => (isWhole(data[name]) ? money(data[name]) : unknown),
    number: (name) => (typeof data[name] === 'number' ? number(data[name]) : unknown),
    time: (name) => (isInstant(data[name]) ? fullTime(data[name]) : unknown),
    word: (name) => wordOf(data[name]),
    reason: (name) => reasonOf(data[name]),
    list: (name) => {
      const list = data[name];
      return Array.isArray(list) && list.length > 0 ? list.map(wordOf).join(', ') : unknown;
    },
  };
}

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value);

const isInstant = (value: unknown): value is string =>
  typeof value === 'string' && !Number.isNaN(Date.parse(value));

const wordOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? value.toString() : activityTexts.unknown;

function reasonOf(value: unknown): string {
  const word = wordOf(value);
  const known = Object.entries(activityTexts.reasons).find(([name]) => name === word);
  return known?.[1] ?? word.replaceAll('_', ' ');
}

/** What a record of the audit trail holds, as lines of a name and a value; what is nested stays as it is written. */
export function factsOf(
  details: Readonly<Record<string, unknown>> | null,
): readonly (readonly [string, string])[] {
  if (details === null) return [];
  const told = toldBy(details);
  return Object.entries(details)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => [name, textOf(name, value, told)] as const);
}

function textOf(name: string, value: unknown, told: Told): string {
  if (name.endsWith('Cents') && isWhole(value)) return told.money(name);
  if (name.endsWith('At') && isInstant(value)) return told.time(name);
  if (typeof value === 'string' || typeof value === 'number') return value.toString();
  return JSON.stringify(value);
}

/** Whether this page knows events of such a type. */
export function isEventType(text: string | undefined): text is EventType {
  return text !== undefined && Object.hasOwn(activityTexts.eventTypes, text);
}

/** Tells an event in words. A newer service may tell of things that this page does not know. */
export function tellEvent({ type, data }: Event): string {
  if (!isEventType(type)) return activityTexts.unknownEvent(type);
  return activityTexts.events[type](toldBy(data));
}
