import { createHash, randomBytes } from 'node:crypto';
import type { Invoice } from '../../adapters/postgres/invoices/invoice-reads.js';
import type { RentalWithHealth } from '../../adapters/postgres/rentals/rental-reads.js';
import type { Session } from '../../adapters/postgres/accounts/sessions.js';
import type {
  AuditEventRow,
  AutoTopupRow,
  SavedCardRow,
  SshKeyRow,
  TopupRow,
  WebhookDeliveryRow,
  WebhookRow,
} from '../../adapters/postgres/rows/tables.js';
import { newId } from '../../adapters/ids.js';
import type { RecordedAnswer } from '../../api/http/idempotency.js';
import type { QuoteId, SessionId, UserId } from '../../domain/ids.js';
import type { RentalRequest } from '../../domain/opening.js';
import { accountLimits } from '../../domain/accounts/limits.js';
import type { OptionalKind } from '../../domain/notices/kinds.js';
import { Wallet } from './wallet.js';

/** A rental, with the mock's own knowledge of it beyond its row. */
export interface MockRental {
  readonly row: RentalWithHealth;
  /** The fate of its machine (header X-Mock-Rental). */
  readonly fate: RentalFate;
  lastTickAt: Date | null;
}

/** A quote, and the rental that was opened by it. */
export interface MockQuote {
  readonly id: QuoteId;
  readonly request: RentalRequest;
  readonly pricePerHourCents: number;
  readonly expiresAt: Date;
  rental: MockRental | undefined;
}

export const rentalFates = ['runs', 'fails', 'is_lost'] as const;
export type RentalFate = (typeof rentalFates)[number];

export interface MockCard {
  readonly row: SavedCardRow;
  /** True: its bank declines every charge (header X-Mock-Card). */
  readonly declines: boolean;
}

/** A webhook, with its tries, oldest first. */
export interface MockWebhook {
  readonly row: WebhookRow;
  readonly deliveries: WebhookDeliveryRow[];
}

/** One user with all of their data. Lists are oldest first. */
export interface Account {
  readonly user: { readonly id: UserId; readonly email: string; readonly createdAt: Date };
  readonly wallet: Wallet;
  sshKeys: SshKeyRow[];
  readonly rentals: MockRental[];
  readonly quotes: MockQuote[];
  readonly topups: TopupRow[];
  readonly invoices: Invoice[];
  webhooks: MockWebhook[];
  readonly audit: AuditEventRow[];
  /** By endpoint and Idempotency-Key. */
  readonly kept: Map<string, { readonly bodyHash: string; readonly answer: RecordedAnswer }>;
  card: MockCard | undefined;
  autoTopup: AutoTopupRow | undefined;
  readonly noticesOff: Set<OptionalKind>;
}

interface OpenSession {
  readonly id: SessionId;
  readonly account: Account;
  provedAtMs: number;
  seenAtMs: number;
}

/** The accounts that have signed in so far. */
export class Accounts {
  readonly #byEmail = new Map<string, Account>();
  readonly #sessions = new Map<string, OpenSession>();

  constructor(private readonly now: () => Date) {}

  all(): Iterable<Account> {
    return this.#byEmail.values();
  }

  /** Returns the account of an address; the first sign-in makes it. */
  signIn(email: string): { account: Account; created: boolean; token: string; expiresAt: Date } {
    const known = this.#byEmail.get(email);
    const account = known ?? this.#create(email);
    const token = randomBytes(32).toString('base64url');
    const seenAtMs = this.now().getTime();
    this.#sessions.set(token, { id: newId('ses'), account, seenAtMs, provedAtMs: seenAtMs });
    return { account, created: !known, token, expiresAt: new Date(seenAtMs + accountLimits.sessionMs) };
  }

  /** Finds the live session of a token; its expiry slides, as the service's does (decision 9, "Session cookies"). */
  find(token: string): { account: Account; session: Session } | undefined {
    const open = this.#sessions.get(token);
    if (!open) return undefined;
    const nowMs = this.now().getTime();
    if (open.seenAtMs + accountLimits.sessionMs <= nowMs) return undefined;
    const renewed = open.seenAtMs + accountLimits.sessionTouchMs < nowMs;
    if (renewed) open.seenAtMs = nowMs;
    const { user } = open.account;
    const session: Session = {
      id: open.id,
      tokenHash: createHash('sha256').update(token).digest(),
      userId: user.id,
      email: user.email,
      userCreatedAt: user.createdAt,
      expiresAt: new Date(open.seenAtMs + accountLimits.sessionMs),
      renewed,
      provedAt: new Date(open.provedAtMs),
      isFresh: open.provedAtMs > nowMs - accountLimits.freshProofMs,
    };
    return { account: open.account, session };
  }

  /** Ends one session for good. */
  signOut(token: string): void {
    this.#sessions.delete(token);
  }

  #create(email: string): Account {
    const account: Account = {
      user: { id: newId('usr'), email, createdAt: this.now() },
      wallet: new Wallet(this.#byEmail.size + 1, this.now),
      sshKeys: [],
      rentals: [],
      quotes: [],
      topups: [],
      invoices: [],
      webhooks: [],
      audit: [],
      kept: new Map(),
      card: undefined,
      autoTopup: undefined,
      noticesOff: new Set(),
    };
    this.#byEmail.set(email, account);
    return account;
  }
}
