import assert from 'node:assert/strict';
import type { ApiKeyRow, RentalRow } from '../../../../adapters/postgres/rows/tables.js';
import type { ApiKeyScope } from '../../../../domain/accounts/api-keys.js';
import { isFinal } from '../../../../domain/rentals/rental.js';
import type { ApiClient, SignedIn } from '../../../support/http/api.js';
import { insertOwned } from '../../../support/http/id-places.js';
import { insertApiKeyOf } from '../../../support/money/factories.js';
import { getKey } from '../../../support/money/keys.js';
import { startService, type TestService } from '../../../support/service/living-service.js';
import { Renting, rtx4090 } from '../../../support/story/renting.js';
import { ownerState } from './owner-state.js';

/** The scopes of an agent's key. */
export const agentScopes: readonly ApiKeyScope[] = ['read', 'rentals', 'billing'];
/** The smallest machine of the lab. */
export const machine = { familyId: rtx4090.familyId, gpuCount: rtx4090.gpuCount };
const notes = 'planted-in-the-notes';
const env = { TOKEN: 'planted-in-the-environment' };

export interface LeakedKey {
  readonly row: ApiKeyRow;
  readonly token: string;
  readonly client: SignedIn;
}

/** An owner with something of each kind, whose agent's key is in the wrong hands. */
export class Owner {
  private constructor(
    readonly service: TestService,
    readonly renting: Renting,
    readonly client: SignedIn,
    /** Machines of the owner's session, and of a key of theirs that ends all. */
    readonly machines: readonly RentalRow[],
    /** Something of the owner's of each kind, as `insertOwned` names it. */
    readonly ids: Readonly<Record<string, string>>,
    /** What is said by the owner alone: no answer to the key may hold it. */
    private readonly secrets: readonly string[],
  ) {}

  static async start(): Promise<Owner> {
    const service = await startService();
    const renting = new Renting(service);
    const client = await service.signIn(50_000);
    const { token } = await insertApiKeyOf(service.db, client.user.id, { scopes: [...agentScopes] });
    const colleague = Object.assign(service.api.withKey(token), { user: client.user });
    const words = { name: 'theirs', notes, env, startScript: 'true', maxSpendCents: 300 };
    const machines = [
      await renting.run(client, machine, words),
      await renting.run(colleague, machine, words),
    ];
    const ids: Record<string, string> = { rent: machines[0]!.id };
    const quote = await client.post('/v1/quotes', { ...machine, ...words });
    ids['quo'] = quote.body.quoteId;
    for (const [kind, insert] of Object.entries(insertOwned))
      ids[kind] ??= await insert(service, client.user.id);
    const hook = await client.post('/v1/webhooks', { url: 'http://127.0.0.1:9/x' });
    const { secret } = hook.body as unknown as { secret: string };
    const secrets = [notes, env.TOKEN, secret, token, client.sid!];
    return new Owner(service, renting, client, machines, ids, secrets);
  }

  async stop(): Promise<void> {
    // It was told to nobody, as a service that stops would find.
    await this.service.db('invoices').where({ user_id: this.client.user.id }).delete();
    await this.service.stop();
  }

  /** A key of an agent: it ends its own. @param spendCapCents null: without a cap */
  async leak(spendCapCents: number | null): Promise<LeakedKey> {
    const { user } = this.client;
    const made = { scopes: [...agentScopes], ends: 'own', spendCapCents } as const;
    const { row, token } = await insertApiKeyOf(this.service.db, user.id, made);
    return { row, token, client: Object.assign(this.service.api.withKey(token), { user }) };
  }

  /** Does something that must leave all that is the owner's as it is, and keep to the key's cap. */
  async unharmed({ row }: LeakedKey, act: () => Promise<void>): Promise<void> {
    const { db } = this.service;
    const state = () => ownerState(db, this.client.user.id, row.id);
    const before = await state();
    await act();
    assert.deepEqual(await state(), before);
    const numbers = this.machines.map(({ no }) => no);
    assert.deepEqual(await db('stop_requests').whereIn('rental_no', numbers), []);
    await this.assertWithinCap(row);
  }

  /** What a key's machines have cost and may still cost is within its cap, by their rows as by its own. */
  private async assertWithinCap({ id, spend_cap_cents: cap }: ApiKeyRow): Promise<void> {
    if (cap === null) return;
    const { spent_cents: spent, reserved_cents: reserved } = await getKey(this.service.db, id);
    assert.ok(spent + reserved <= cap, `${spent} spent, ${reserved} reserved`);
    const rows = await this.service.db('rentals').where({ api_key_id: id });
    const worst = rows.map((row) =>
      isFinal(row.status) ? row.charged_cents - row.refunded_cents : (row.max_spend_cents ?? Infinity),
    );
    const sum = worst.reduce((whole, cents) => whole + cents, 0);
    assert.ok(sum <= cap, `machines may cost ${worst.join(' + ')}`);
  }

  /** @param what whose text it is, for a failure */
  assertTellsNothing(text: string, what: string): void {
    for (const secret of [...this.secrets, ...this.machines.map(({ id }) => id)])
      assert.ok(!text.includes(secret), `${what} tells ${secret}: ${text}`);
  }
}

/** The ids of a key's machines. */
export async function machinesOf(client: ApiClient): Promise<string[]> {
  return (await client.get('/v1/rentals?pageSize=200')).body.rentals.map(({ id }) => id);
}
