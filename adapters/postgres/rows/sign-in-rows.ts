import type { SessionId, UserId } from '../../../domain/ids.js';

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
