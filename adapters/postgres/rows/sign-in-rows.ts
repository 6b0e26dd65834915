import type { ApiKeyEnds, ApiKeyScope } from '../../../domain/accounts/api-keys.js';
import type { ApiKeyId, SessionId, UserId } from '../../../domain/ids.js';

export interface LoginCodeRow {
  id: number;
  email: string;
  /** Null for a code of the release before. */
  mailbox: string | null;
  /** Null for a request that was not mailed. */
  code_hash: Buffer | null;
  client_address: string;
  browser_hash: Buffer | null;
  asked_by: 'anybody' | 'known_browser' | 'identity';
  tries: number;
  other_tries: number;
  issuer: string | null;
  subject: string | null;
  created_at: Date;
  expires_at: Date;
  used_at: Date | null;
}

export interface ProofCodeRow {
  id: number;
  user_id: UserId;
  session_id: SessionId;
  code_hash: Buffer;
  tries: number;
  created_at: Date;
  expires_at: Date;
  used_at: Date | null;
}

export interface OAuthStateRow {
  state_hash: Buffer;
  browser_hash: Buffer;
  provider: 'google' | 'github' | 'oidc';
  code_verifier: string;
  nonce: string;
  return_path: string;
  created_at: Date;
  expires_at: Date;
  used_at: Date | null;
}

export interface IdentityRow {
  issuer: string;
  subject: string;
  user_id: UserId;
  linked_at: Date;
}

export interface FailedSignInsRow {
  user_id: UserId;
  hour: Date;
  failed: number;
}

export interface InstallationKeyRow {
  name: 'ledger_ids' | 'known_browsers' | 'unsubscribe_links';
  key: Buffer;
  created_at: Date;
}

/** A key with which programs call the API in its user's name. */
export interface ApiKeyRow {
  id: ApiKeyId;
  user_id: UserId;
  name: string;
  token_hash: Buffer;
  /** Its last characters. */
  hint: string;
  scopes: ApiKeyScope[];
  /** Which machines it may end. */
  ends: ApiKeyEnds;
  /** From where it may be used; null: from anywhere. */
  allowed_cidrs: string[] | null;
  expires_at: Date;
  /** What its rentals may cost in all; null: no cap. */
  spend_cap_cents: number | null;
  spent_cents: number;
  reserved_cents: number;
  created_at: Date;
  last_used_at: Date | null;
  last_used_address: string | null;
  revoked_at: Date | null;
  /** Until its owner signs in afresh after a restore. */
  suspended_at: Date | null;
  /** When it is of no use any more: expired, or revoked before. */
  ended_at: Date;
}

/** What an account has in common with others. */
export interface AccountTieRow {
  readonly user_id: UserId;
  readonly kind: 'card' | 'address';
  /** The card's fingerprint, or the address from which the account was made. */
  readonly value: string;
  readonly tied_at: Date;
}
