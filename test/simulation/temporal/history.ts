import { defaultPayloadConverter } from '@temporalio/common';

/** An event of a run's history, as far as anybody reads it: what it tells stands under its attributes' name. */
export interface HistoryEvent {
  readonly eventTime: { readonly seconds: number; readonly nanos: number };
  readonly [attributes: string]: unknown;
}

/** gRPC's NOT_FOUND. */
const NOT_FOUND = 5;

/** @param attributes its kind, such as activityTaskCompleted */
export function eventOf(atMs: number, attributes: string, told: object): HistoryEvent {
  const eventTime = { seconds: Math.floor(atMs / 1_000), nanos: (atMs % 1_000) * 1_000_000 };
  return { eventTime, [`${attributes}EventAttributes`]: told };
}

/** What a history holds of a value. */
export function payloadsOf(value: unknown): { payloads: unknown[] } {
  return { payloads: [defaultPayloadConverter.toPayload(value)] };
}

/** What the server says of a run that it does not know. */
export function noSuchRun(): Error {
  return Object.assign(new Error('workflow not found'), { code: NOT_FOUND, details: '', metadata: {} });
}
