import { brandName, lookUp, type AuditEvent, type Event, type EventType } from '@gpu-rental/client';
import { familyName } from '../../format/machine.js';
import { money } from '../../format/money.js';
import { number } from '../../format/number.js';
import { fullTime } from '../../format/time.js';
import { activityTexts, type Told } from '../../texts/activity.js';
import { changesIn } from './changes.js';
import type { NameOf } from './use-names.js';

/**
 * Reads what an event or a record holds.
 * @param entityId what it happened to
 */
export function toldBy(
  data: Readonly<Record<string, unknown>>,
  nameOf: NameOf = () => undefined,
  entityId = '',
): Told {
  const { unknown, aRental, named } = activityTexts;
  return {
    named: (word, unnamed) => {
      const name = nameOf(entityId);
      return name === undefined ? unnamed : named(word, name);
    },
    rental: nameOf(entityId) ?? aRental,
    family: familyName(wordOf(data['familyId'])),
    brand: brandName(wordOf(data['brand'])),
    money: (name) => (isWhole(data[name]) ? money(data[name]) : unknown),
    number: (name) => (typeof data[name] === 'number' ? number(data[name]) : unknown),
    isTrue: (name) => data[name] === true,
    time: (name) => (isInstant(data[name]) ? fullTime(data[name]) : unknown),
    word: (name) => wordOf(data[name]),
    reason: (name) => reasonOf(data[name]),
    list: (name) => listOf(data[name], (word) => fieldName(word)),
    rentals: (name) => listOf(data[name], (id) => nameOf(id) ?? id),
    changes: changesIn(data),
  };
}

function listOf(value: unknown, tell: (word: string) => string): string {
  const words = Array.isArray(value) ? value.map(wordOf) : [];
  return words.length === 0 ? activityTexts.unknown : words.map(tell).join(', ');
}

/** The name of a field as people say it: “spendCapCents” is “cap”, “stopMachines” is “stop machines”. */
function fieldName(name: string): string {
  const plain = name.replace(/(Cents|At)$/, '').replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return activityTexts.fields[name] ?? plain.replaceAll('_', ' ');
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

/** What a record of the audit trail holds, as lines of a name and a value, both as people say them. */
export function factsOf(
  details: Readonly<Record<string, unknown>> | null,
): readonly (readonly [string, string])[] {
  if (details === null) return [];
  const told = toldBy(details);
  return Object.entries(details)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => [fieldName(name), textOf(name, value, told)] as const);
}

/** Facts that are a word of the service. */
const wordFacts: ReadonlySet<string> = new Set(['reason', 'by']);

function textOf(name: string, value: unknown, told: Told): string {
  if (name.endsWith('Cents') && isWhole(value)) return told.money(name);
  if (name.endsWith('At') && isInstant(value)) return told.time(name);
  if (wordFacts.has(name)) return told.reason(name);
  return Array.isArray(value) ? told.list(name) : plainText(value);
}

function plainText(value: unknown): string {
  if (typeof value === 'boolean') return value ? activityTexts.yes : activityTexts.no;
  return typeof value === 'string' || typeof value === 'number' ? value.toString() : JSON.stringify(value);
}

/** The thing that a record is of, as far as it tells: a change has an id of its own. */
export function entityOf({ entityId, details }: AuditEvent): string | undefined {
  const told = details?.['rentalId'] ?? details?.['webhookId'] ?? details?.['keyId'];
  return typeof told === 'string' ? told : (entityId ?? undefined);
}

/** Tells a record in words, by the names of what it is about. */
export function tellRecord(record: AuditEvent, nameOf: NameOf): string {
  const { kind, details } = record;
  const { audit, auditNamed, unknownEvent } = activityTexts;
  const told = toldBy(details ?? {}, nameOf, entityOf(record));
  const known = Object.entries(audit).find(([name]) => name === kind)?.[1];
  return lookUp(auditNamed, kind)?.(told) ?? known ?? unknownEvent(kind);
}

/** Whether this page knows events of such a type. */
export function isEventType(text: string | undefined): text is EventType {
  return text !== undefined && Object.hasOwn(activityTexts.eventTypes, text);
}

/** Tells an event in words. A newer service may tell of things that this page does not know. */
export function tellEvent({ type, data, entityId }: Event, nameOf: NameOf): string {
  if (!isEventType(type)) return activityTexts.unknownEvent(type);
  return activityTexts.events[type](toldBy(data, nameOf, entityId));
}
