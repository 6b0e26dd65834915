import type { Receiver } from '../world/receivers.js';

/** A request of a user for a stop: when it left, and when its answer came. Milliseconds since 1970. */
export interface ToldStop {
  readonly rentalId: string;
  readonly sentMs: number;
  readonly answeredMs: number;
  readonly status: number | 'lost';
  /** What the rental cost in the end, as the answer said; undefined: it did not say. */
  readonly finalChargedCents: number | undefined;
}

/** A rental as its user was told of it. */
export interface ToldRental {
  readonly rentalId: string;
  readonly email: string;
  readonly pricePerHourCents: number;
  readonly autoStopAfterHours: number | undefined;
  readonly maxSpendCents: number | undefined;
  readonly answeredMs: number;
  /** The API key that rented it; undefined: a session did. */
  readonly keyId: string | undefined;
  /** The price that was accepted, by a quote or in the request, in cents an hour; undefined: none. */
  readonly acceptedCents: number | undefined;
}

/** A value that was asked for: it may hold from `sentMs` on, and does from `answeredMs` on if that was said. */
export interface ToldValue {
  readonly sentMs: number;
  readonly answeredMs: number;
  /** Infinity: no limit. */
  readonly value: number;
  /** false: nobody knows whether it was set. */
  readonly isSure: boolean;
}

/** An API key, as its owner knows it. */
export interface ToldKey {
  readonly id: string;
  readonly email: string;
  readonly token: string;
  readonly scopes: readonly string[];
  /** Its caps, in cents. */
  readonly caps: ToldValue[];
  /** When its revocation was first asked for, and when that was first answered with 200. */
  revokingMs: number | undefined;
  revokedMs: number | undefined;
  /** When a revocation that stops its machines was answered with 200. */
  stoppedMs: number | undefined;
}

/** A change of a rental's limits, which was granted, or of which nobody knows whether it was. */
export interface ToldChange {
  readonly rentalId: string;
  /** The body of the request. */
  readonly asked: Readonly<Record<string, number | string | null>>;
  readonly sentMs: number;
  readonly answeredMs: number;
  /** The limits as the answer of 200 shows them; undefined: there was none. Infinity: no limit. */
  readonly answer: { readonly autoStopMs: number; readonly maxSpendCents: number } | undefined;
}

/** A webhook's endpoint, as its owner knows it. Milliseconds since 1970. */
export interface ToldHook {
  readonly id: string;
  readonly email: string;
  /** None: all but those that must be named. */
  readonly types: readonly string[];
  readonly receiver: Receiver;
  /** When it was answered that it is there. */
  readonly madeMs: number;
  /** When its removal was first asked for, and when that was answered with 200. */
  removingMs: number | undefined;
  removedMs: number | undefined;
  /** The last rotation of its secret was not answered. */
  isUnsure: boolean;
  /** When messages may be signed by secrets alone that the receiver does not know. */
  readonly unsure: { readonly fromMs: number; toMs: number }[];
}

/** An event as GET /v1/events shows it. */
export interface FeedEvent {
  readonly id: string;
  readonly seq: number;
  readonly type: string;
  readonly entityId: string;
  readonly createdAt: string;
}

/** What an operator may hold up: all of a kind, an upstream, or a user. */
export type HoldUp =
  | { readonly kind: 'pause'; readonly brake: 'creates' | 'charges' | 'metering' | 'webhooks' }
  | { readonly kind: 'pause_provider'; readonly providerCode: string }
  | { readonly kind: 'block_user'; readonly userId: `usr_${string}` };

/** Something that an operator held up for a while. Milliseconds since 1970. */
export interface ToldPause {
  readonly action: HoldUp;
  readonly sentMs: number;
  /** When it held for sure; undefined: nobody knows. */
  heldMs: number | undefined;
  /** When its end was asked for. */
  endingMs: number | undefined;
}

/** Cents that an operator gives a user by an order; `isDone`: its workflow said so. */
export interface ToldOrder {
  readonly userId: string;
  readonly amountCents: number;
  isDone: boolean;
}

/** What an operator was told of payments that the processor's account does not know, and took from their wallet. */
export interface ToldDecision {
  readonly userId: string;
  readonly amountCents: number;
  readonly shares: readonly { readonly paymentId: string; readonly cents: number }[];
}

/** An account that its user wants to be closed. Milliseconds since 1970. */
export interface ToldClosing {
  readonly email: string;
  readonly userId: string;
  readonly sentMs: number;
  /** When that was answered with 200; undefined: nobody knows whether it is. */
  answeredMs: number | undefined;
}

/** What all users were told, for the oracle. */
export class Told {
  readonly rentals = new Map<string, ToldRental>();
  readonly stops: ToldStop[] = [];
  /** The ids of users by their addresses. */
  readonly users = new Map<string, string>();
  readonly hooks: ToldHook[] = [];
  readonly pauses: ToldPause[] = [];
  readonly orders: ToldOrder[] = [];
  readonly decisions: ToldDecision[] = [];
  readonly closings: ToldClosing[] = [];
  /** Saved cards whose removal was answered with 200, and when; milliseconds since 1970. */
  readonly removedCards: { readonly cardId: string; readonly answeredMs: number }[] = [];
  /** What each user has read of the feed, by their addresses. */
  readonly feeds = new Map<string, FeedEvent[]>();
  readonly changes: ToldChange[] = [];
  /** The idle guards of rentals by their ids: minus their minutes, so that the highest stops first; -Infinity: none. */
  readonly guards = new Map<string, ToldValue[]>();
  /** What was answered with 200; milliseconds since 1970. */
  readonly keepAlives: {
    readonly rentalId: string;
    readonly untilMs: number;
    readonly answeredMs: number;
  }[] = [];
  readonly keys = new Map<string, ToldKey>();
  /** Rentals, top-ups and changes of which a 503 said that they will never be. */
  readonly never = new Set<string>();
  /** Requests by their kind and answer, such as "create 200". */
  readonly reached = new Map<string, number>();
  readonly strange: string[] = [];
}

/**
 * The highest value that may have held at an instant: that of the last request which was surely granted before, or of
 * one since then whose outcome was open or is unknown.
 * @returns -Infinity when none was asked for by then
 */
export function highestAt(values: readonly ToldValue[], atMs: number): number {
  const sure = values.filter(({ isSure, answeredMs }) => isSure && answeredMs < atMs);
  const sinceMs = Math.max(-Infinity, ...sure.map(({ sentMs }) => sentMs));
  return Math.max(
    -Infinity,
    ...values.filter((one) => one.sentMs <= atMs && one.answeredMs >= sinceMs).map(({ value }) => value),
  );
}
