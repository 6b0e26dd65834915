import { createHash, randomBytes } from 'node:crypto';
import type { Invoice } from '../../adapters/postgres/invoices/invoice-reads.js';
import type { RentalWithHealth } from '../../adapters/postgres/rentals/rental-reads.js';
import type { ShownSession } from '../../adapters/postgres/accounts/session-list.js';
import type { LiveApiKey } from '../../adapters/postgres/accounts/api-keys.js';
import type { SeenFrom, Session } from '../../adapters/postgres/accounts/sessions.js';
import type {
  ApiKeyRow,
  AuditEventRow,
  AutoTopupRow,
  PasskeyRow,
  SavedCardRow,
  SshKeyRow,
  TopupRow,
  WebhookDeliveryRow,
  WebhookRow,
} from '../../adapters/postgres/rows/tables.js';
import { newId } from '../../adapters/ids.js';
import type { RecordedAnswer } from '../../api/http/idempotency.js';
import type { ApiKeyId, QuoteId, SessionId, UserId } from '../../domain/ids.js';
import { noBillingDetails, type BillingDetails } from '../../domain/payments/receipt.js';
import type { BudgetSettings } from '../../adapters/postgres/spending/budgets.js';
import type { RentalRequest } from '../../domain/rentals/request.js';
import { accountClosing } from '../../domain/accounts/closing.js';
import { accountLimits } from '../../domain/accounts/limits.js';
import type { OptionalKind } from '../../domain/notices/kinds.js';
import { Wallet } from './wallet.js';

/** A rental, with the mock's own knowledge of it beyond its row. */
export interface MockRental {
  readonly row: RentalWithHealth;
  /** The fate of its machine (header X-Mock-Rental). */
  readonly fate: RentalFate;
  lastTickAt: Date | null;
  /** Until when its idle guard has seen what it does, in milliseconds since 1970. */
  judgedMs: number;
  /** The ends that its user was warned of: "auto_stop_near 2026-11-01T12:00:00.000Z". */
  readonly warned: Set<string>;
}

/** A quote, and the rental that was opened by it. */
export interface MockQuote {
  readonly id: QuoteId;
  readonly request: RentalRequest;
  /** The API key that asked for it; undefined for a session. */
  readonly askedBy: ApiKeyId | undefined;
  readonly pricePerHourCents: number;
  readonly expiresAt: Date;
  rental: MockRental | undefined;
}

export const rentalFates = ['runs', 'idles', 'fails', 'is_lost'] as const;
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

/** An API key, and the text that is sent. */
export interface MockApiKey {
  readonly token: string;
  readonly row: ApiKeyRow;
}

/** One user with all of their data. Lists are oldest first. */
export interface Account {
  readonly user: { readonly id: UserId; readonly email: string; readonly createdAt: Date };
  readonly wallet: Wallet;
  /** Whether its user was told that its balance is low. */
  isLow: boolean;
  sshKeys: SshKeyRow[];
  passkeys: PasskeyRow[];
  readonly apiKeys: MockApiKey[];
  readonly rentals: MockRental[];
  readonly quotes: MockQuote[];
  readonly topups: TopupRow[];
  readonly invoices: Invoice[];
  webhooks: MockWebhook[];
  readonly audit: AuditEventRow[];
  /** By endpoint and Idempotency-Key. */
  readonly kept: Map<string, { readonly bodyHash: string; readonly answer: RecordedAnswer }>;
  card: MockCard | undefined;
  /** When its user had it closed. */
  closingSince: Date | undefined;
  autoTopup: AutoTopupRow | undefined;
  budget: BudgetSettings;
  billingDetails: BillingDetails;
  /** The shares of budgets that were told of, by month: "2026-11 50". */
  readonly budgetTold: Set<string>;
  readonly noticesOff: Set<OptionalKind>;
  /** The redeliveries of webhooks that were asked for in the hour that ends then. */
  redeliveries: { count: number; readonly endsAtMs: number };
}

/** @throws Refusal account_closing: nothing new is begun for an account that is being closed */
export function refuseWhenClosing({ closingSince }: Account): void {
  if (closingSince) throw accountClosing();
}

/** A live session, as the list shows it, and its token. */
interface MockSession {
  readonly account: Account;
  readonly row: ShownSession;
  token: string;
}

/** The accounts that have signed in so far. */
export class Accounts {
  readonly #byEmail = new Map<string, Account>();
  readonly #sessions = new Map<string, MockSession>();

  constructor(private readonly now: () => Date) {}

  all(): Iterable<Account> {
    return this.#byEmail.values();
  }

  /** Returns the account of an address, which the first sign-in makes, and its new session. */
  signIn(email: string, from: SeenFrom): { account: Account; created: boolean; session: MockSession } {
    const known = this.#byEmail.get(email);
    const account = known ?? this.#create(email);
    const now = this.now();
    const row: ShownSession = {
      id: newId('ses'),
      user_id: account.user.id,
      created_at: now,
      last_seen_at: now,
      expires_at: expiryFrom(now),
      user_agent: from.userAgent ?? null,
      client_address: from.clientAddress ?? null,
      proved_at: now,
    };
    const session: MockSession = { account, row, token: newToken() };
    this.#sessions.set(session.token, session);
    return { account, created: !known, session };
  }

  /** Finds the live session of a token; its expiry slides, as the service's does (decision 9, "Session cookies"). */
  find(token: string): { account: Account; session: Session } | undefined {
    const open = this.#sessions.get(token);
    const now = this.now();
    if (!open || open.row.expires_at <= now) return undefined;
    const { account, row } = open;
    const renewed = row.last_seen_at.getTime() + accountLimits.sessionTouchMs < now.getTime();
    if (renewed) Object.assign(row, { last_seen_at: now, expires_at: expiryFrom(now) });
    const session: Session = {
      id: row.id,
      tokenHash: hashOf(token),
      userId: account.user.id,
      email: account.user.email,
      userCreatedAt: account.user.createdAt,
      expiresAt: row.expires_at,
      renewed,
      provedAt: row.proved_at,
      isFresh: (row.proved_at?.getTime() ?? 0) > now.getTime() - accountLimits.freshProofMs,
    };
    return { account, session };
  }

  /** Finds an API key, whether it holds or not. */
  findKey(token: string): { account: Account; key: LiveApiKey; row: ApiKeyRow } | undefined {
    for (const account of this.#byEmail.values()) {
      const row = account.apiKeys.find((one) => one.token === token)?.row;
      if (!row) continue;
      const { id: userId, email, createdAt: userCreatedAt } = account.user;
      const { id: keyId, scopes, ends, expires_at: expiresAt, spend_cap_cents: capCents } = row;
      const isCapped = capCents !== null;
      return {
        account,
        row,
        key: { keyId, userId, email, userCreatedAt, scopes, ends, isCapped, expiresAt },
      };
    }
    return undefined;
  }

  /** Lists the live sessions of an account, the newest first. */
  sessionsOf(account: Account): ShownSession[] {
    const now = this.now();
    return [...this.#sessions.values()]
      .filter((session) => session.account === account && session.row.expires_at > now)
      .map(({ row }) => row)
      .toSorted(newestFirst);
  }

  /** Ends one session for good. @returns the hash of its token; undefined when there is none */
  endSession(account: Account, id: SessionId): Buffer | undefined {
    const session = [...this.#sessions.values()].find((one) => one.account === account && one.row.id === id);
    if (!session) return undefined;
    this.#sessions.delete(session.token);
    return hashOf(session.token);
  }

  /** Gives a session another token, because its user has shown anew who they are. */
  rotate(token: string): MockSession | undefined {
    const session = this.#sessions.get(token);
    if (!session) return undefined;
    this.#sessions.delete(token);
    const now = this.now();
    Object.assign(session.row, { last_seen_at: now, proved_at: now, expires_at: expiryFrom(now) });
    session.token = newToken();
    this.#sessions.set(session.token, session);
    return session;
  }

  #create(email: string): Account {
    const account: Account = {
      user: { id: newId('usr'), email, createdAt: this.now() },
      wallet: new Wallet(this.#byEmail.size + 1, this.now),
      isLow: false,
      sshKeys: [],
      passkeys: [],
      apiKeys: [],
      rentals: [],
      quotes: [],
      topups: [],
      invoices: [],
      webhooks: [],
      audit: [],
      kept: new Map(),
      card: undefined,
      closingSince: undefined,
      autoTopup: undefined,
      budget: { monthlyCents: null, hard: false },
      billingDetails: noBillingDetails,
      budgetTold: new Set(),
      noticesOff: new Set(),
      redeliveries: { count: 0, endsAtMs: 0 },
    };
    this.#byEmail.set(email, account);
    return account;
  }
}

/** Orders sessions as they are listed: the newest sign-in first. */
export function newestFirst(
  a: Pick<ShownSession, 'created_at' | 'id'>,
  b: Pick<ShownSession, 'created_at' | 'id'>,
): number {
  return b.created_at.getTime() - a.created_at.getTime() || (a.id < b.id ? 1 : -1);
}

function newToken(): string {
  return randomBytes(32).toString('base64url');
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

function expiryFrom(now: Date): Date {
  return new Date(now.getTime() + accountLimits.sessionMs);
}
