import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { ApiClient, TestApi } from '../../support/http/api.js';

/** Requests codes by mail and reads them out of the outbox, for addresses of its own. */
export class CodeMails {
  private addresses = 0;

  constructor(private readonly api: TestApi) {}

  newEmail(): string {
    this.addresses += 1;
    return `person${this.addresses}@example.com`;
  }

  async request(email: string): Promise<{ client: ApiClient; code: string }> {
    const client = this.api.stranger();
    assert.deepEqual((await client.post('/v1/auth/request-code', { email })).body, { ok: true });
    const mail = await this.api
      .db('mail_outbox')
      .where({ recipient: email.toLowerCase() })
      .orderBy('id', 'desc')
      .first();
    return { client, code: /\b\d{6}\b/.exec(mail?.body ?? '')![0] };
  }

  async signIn(email = this.newEmail()): Promise<ApiClient> {
    const { client, code } = await this.request(email);
    assert.equal((await client.post('/v1/auth/verify-code', { email, code })).status, 200);
    return client;
  }

  /** Makes all requests of an address older, but not the expiry of its codes. */
  async ageRequests(email: string, ms: number): Promise<void> {
    await this.api.db.raw(
      `update login_codes set created_at = created_at - :ms * interval '1 millisecond' where email = :email`,
      { email, ms },
    );
  }

  /** Lets a mailed code expire right now. Nothing else about it changes. */
  async expire(email: string, code: string): Promise<void> {
    const { rows } = await this.api.db.raw<{ rows: { expires_at: Date }[] }>(
      `update login_codes set expires_at = clock_ms() where email = :email returning expires_at`,
      { email },
    );
    // The hash is made as in login-codes.ts: the instant is a part of it.
    const text = `login-code:${email}:${rows[0]!.expires_at.getTime()}:${code}`;
    await this.api
      .db('login_codes')
      .where({ email })
      .update({ code_hash: createHash('sha256').update(text).digest() });
  }

  /** Makes all mails to an address older. The mailed codes become invalid. */
  async age(email: string, ms: number): Promise<void> {
    await this.api.db.raw(
      `update login_codes set created_at = created_at - :ms * interval '1 millisecond',
         expires_at = expires_at - :ms * interval '1 millisecond' where email = :email`,
      { email, ms },
    );
  }
}

/** A code that is not this one. */
export function otherThan(code: string): string {
  return ((Number(code) + 1) % 1_000_000).toString().padStart(6, '0');
}
