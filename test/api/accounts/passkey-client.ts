import assert from 'node:assert/strict';
import type { Authenticator, HeldPasskey, Odds } from '../../support/authenticator.js';
import type { ApiClient, SignedIn, TestApi } from '../../support/http/api.js';
import type { Answer } from '../../support/http/answers.js';
import type { AuditKind } from '../../../domain/accounts/audit.js';

/** The origin of the dashboard, for which passkeys are. */
export const origin = 'https://gpu.example.com';
export const dashboardUrl = `${origin}/app`;
export const paths = {
  passkeys: '/v1/auth/passkeys',
  signIn: '/v1/auth/passkey-sign-in',
  proof: '/v1/auth/passkey-proof',
} as const;

export interface ShownPasskey {
  readonly id: string;
  readonly name: string;
  readonly synced: boolean;
  readonly lastUsedAt: string | null;
}

interface Asked {
  readonly challenge: string;
}
type Creation = Asked &
  Parameters<Authenticator['create']>[0] & {
    readonly excludeCredentials: readonly { readonly id: string }[];
  };
type Request = Asked &
  Parameters<Authenticator['get']>[1] & { readonly allowCredentials: readonly { readonly id: string }[] };

export const faultOf = ({ status, body }: Answer) => [status, body.error];
export const invalid = [401, 'passkey_invalid'];

/** What pages and tests do with passkeys. */
export class PasskeyClient {
  constructor(private readonly api: TestApi) {}

  async begin(client: ApiClient): Promise<Creation> {
    return (await client.post(`${paths.passkeys}/begin`)).body as unknown as Creation;
  }

  async beginSignIn(client: ApiClient): Promise<Request> {
    return (await client.post(`${paths.signIn}/begin`)).body as unknown as Request;
  }

  async beginProof(client: ApiClient): Promise<Request> {
    return (await client.post(`${paths.proof}/begin`)).body as unknown as Request;
  }

  /** Adds a passkey of a user. */
  async add(client: ApiClient, device: Authenticator, name = 'MacBook'): Promise<HeldPasskey> {
    const { held, credential } = device.create(await this.begin(client));
    const { status } = await client.post(paths.passkeys, { name, credential });
    assert.equal(status, 200);
    return held;
  }

  async signIn(device: Authenticator, held: HeldPasskey, odds: Odds = {}) {
    const client = this.api.stranger();
    const credential = device.get(held, await this.beginSignIn(client), odds);
    return { client, answer: await client.post(paths.signIn, { credential }) };
  }

  async prove(client: ApiClient, device: Authenticator, held: HeldPasskey, odds: Odds = {}): Promise<Answer> {
    return client.post(paths.proof, { credential: device.get(held, await this.beginProof(client), odds) });
  }

  rows({ user }: SignedIn) {
    return this.api.db('passkeys').where({ user_id: user.id });
  }

  audited({ user }: SignedIn, kind: AuditKind) {
    return this.api.db('audit_events').where({ user_id: user.id, kind }).orderBy('no');
  }

  /** Lets a user have shown nobody who they are. */
  async makeStale({ user }: SignedIn): Promise<void> {
    await this.api.db('sessions').where({ user_id: user.id }).update({ proved_at: null });
  }

  /** Lets all challenges be over. */
  async expire(): Promise<void> {
    const { db } = this.api;
    await db('passkey_challenges').update({ expires_at: db.raw("clock_ms() - interval '1 ms'") });
  }
}
