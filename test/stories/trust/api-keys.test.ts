import assert from 'node:assert/strict';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { newId } from '../../../adapters/ids.js';
import type { ApiKeyScope } from '../../../domain/accounts/api-keys.js';
import type { ApiKeyId, RentalId } from '../../../domain/ids.js';
import { libraryClient } from '../../../tools/demo/ssh-client.js';
import { newRenterKey } from '../../lab/provider/living-lab.js';
import type { SignedIn } from '../../support/http/api.js';
import { insertApiKeyOf } from '../../support/money/factories.js';
import { credit } from '../../support/money/money.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { Renting, rtx4090 } from '../../support/story/renting.js';

describe('what an API key rents', () => {
  let service: TestService;
  let renting: Renting;
  let owner: SignedIn;
  /** All keys that were ever sent. */
  const tokens: string[] = [];

  before(async () => {
    service = await startService({ logLevel: 'trace' });
    renting = new Renting(service);
    owner = await service.signIn();
    await credit(service.db, owner.user.id, 5_000);
  });
  after(() => service.stop());

  async function program(scopes: ApiKeyScope[]): Promise<{ client: SignedIn; id: ApiKeyId }> {
    const { row, token } = await insertApiKeyOf(service.db, owner.user.id, { scopes });
    tokens.push(token);
    return { client: Object.assign(service.api.withKey(token), { user: owner.user }), id: row.id };
  }

  /** Enters a rental's machine by SSH. @returns the command's exit code; 255 when nobody is let in */
  async function enter(id: RentalId, privatePem: string): Promise<number> {
    const { host, port, username } = await renting.awaitStatus(id, 'running');
    const at = { host: host!, port: port!, username: username! };
    return (await libraryClient.run({ ...at, privatePem, command: 'exit 7' })).exitCode;
  }

  it('is opened by keys of its own, which its own request holds, and is named after the key', async () => {
    const { client, id: keyId } = await program(['read', 'rentals']);
    const [own, twin] = [newRenterKey(), newRenterKey()];
    const id = await renting.open(client, rtx4090, {
      sshPublicKeys: [`${own.line} of a laptop`, own.line, twin.line],
    });
    assert.deepEqual([await enter(id, own.pem), await enter(id, twin.pem)], [7, 7]);
    assert.equal(await enter(id, newRenterKey().pem), 255);
    const row = await renting.row(id);
    assert.deepEqual([row.api_key_id, row.own_ssh_keys, row.ssh_key_ids], [keyId, 2, []]);
    const { body } = await client.get(`/v1/rentals/${id}`);
    assert.ok(!(body as unknown as { warnings: string[] }).warnings.includes('no_ssh_key'));
    assert.deepEqual(
      await service.db('ssh_keys').where({ user_id: owner.user.id }),
      [],
      'nothing was stored',
    );
    await client.patch(`/v1/rentals/${id}`, { maxSpendCents: 500 });
    await client.patch(`/v1/rentals/${id}`, { name: 'renamed' });
    await renting.stop(client, id);
    const audited = await service
      .db('audit_events')
      .where({ user_id: owner.user.id, api_key_id: keyId })
      .orderBy('no');
    assert.deepEqual(
      audited.map(({ kind }) => kind),
      ['rental_created', 'rental_changed', 'rental_changed', 'rental_stopped'],
    );
    assert.ok(audited.every(({ client_address: address }) => address !== null));
  });

  it('may be quoted by one key and taken by another, or by a session', async () => {
    const [{ client: asker }, { client: taker, id: takerId }] = [
      await program(['rentals']),
      await program(['rentals']),
    ];
    const own = newRenterKey();
    const quoted = async (): Promise<string> => {
      const { body, status } = await asker.post('/v1/quotes', { ...machine, sshPublicKeys: [own.line] });
      assert.equal(status, 200, JSON.stringify(body));
      return (body as unknown as { quoteId: string }).quoteId;
    };
    for (const [client, keyId] of [
      [taker, takerId],
      [owner, null],
    ] as const) {
      const { body, status } = await client.post('/v1/rentals', { quoteId: await quoted() });
      assert.equal(status, 200, JSON.stringify(body));
      const id = body.id as RentalId;
      assert.equal(await enter(id, own.pem), 7);
      assert.equal((await renting.row(id)).api_key_id, keyId);
      await renting.stop(owner, id);
    }
  });

  const machine = { familyId: rtx4090.familyId, gpuCount: rtx4090.gpuCount };

  it('is one for an Idempotency-Key of the same key, and another for that of another', async () => {
    const { client: first } = await program(['rentals']);
    const { client: second } = await program(['rentals']);
    const key = { 'Idempotency-Key': 'nightly' };
    const ids: string[] = [];
    for (const client of [first, first, second, owner, owner]) {
      const { body, status } = await client.post('/v1/rentals', machine, key);
      assert.equal(status, 200, JSON.stringify(body));
      ids.push(body.id);
    }
    assert.deepEqual([ids[0] === ids[1], ids[3] === ids[4], new Set(ids).size], [true, true, 3]);
    const other = await second.post('/v1/rentals', { ...machine, name: 'another' }, key);
    assert.equal(other.body.error, 'idempotency_conflict');
    for (const id of new Set(ids)) await renting.stop(owner, id as RentalId);
  });

  it('is refused with too many, weak or wrong keys, each named, and nothing is opened', async () => {
    const { client } = await program(['rentals']);
    const line = newRenterKey().line;
    const before = await service.db('rental_requests').where({ user_id: owner.user.id });
    for (const [sshPublicKeys, error, field] of [
      [Array.from({ length: 11 }, () => newRenterKey().line), 'validation_failed', 'sshPublicKeys'],
      [[], 'validation_failed', 'sshPublicKeys'],
      [[line, 'no key'], 'validation_failed', 'sshPublicKeys[1]'],
      [['ssh-dss AAAAB3NzaC1kc3M='], 'weak_key', undefined],
      [[`${line}\ncommand`], 'validation_failed', 'sshPublicKeys[0]'],
    ] as const) {
      for (const path of ['/v1/rentals', '/v1/quotes']) {
        const { status, body } = await client.post(path, { ...machine, sshPublicKeys });
        assert.deepEqual([status, body.error], [400, error], JSON.stringify(body));
        if (field !== undefined) assert.equal(body.details.fields[0]?.field, field);
      }
    }
    const after = await service.db('rental_requests').where({ user_id: owner.user.id });
    assert.equal(after.length, before.length);
  });

  it('never has the key, or a public key, in a log, in Temporal, or the key in clear in the database', async () => {
    const { client } = await program(['read', 'rentals']);
    await client.get(`/v1/rentals/${newId('rent')}`);
    const { db, temporal, api } = service;
    assert.ok(tokens.length >= 6);
    const kept = [JSON.stringify(api.logged)];
    for await (const { workflowId, runId } of temporal.workflow.list()) {
      const handle = temporal.workflow.getHandle(workflowId, runId);
      const history = historyToJSON(await handle.fetchHistory());
      // Payloads are bytes in base64.
      kept.push(
        history.replaceAll(/"data": ?"([A-Za-z0-9+/=]+)"/g, (_, data: string) =>
          Buffer.from(data, 'base64').toString('utf8'),
        ),
      );
    }
    const { rows: tables } = await db.raw<{ rows: { name: string }[] }>(
      `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`,
    );
    const inDatabase: string[] = [];
    for (const { name } of tables) {
      const { rows } = await db.raw<{ rows: { text: string }[] }>('select t::text as text from ?? t', [name]);
      inDatabase.push(...rows.map(({ text }) => text));
    }
    assert.ok(inDatabase.some((text) => text.includes(owner.user.id)));
    assert.match(kept.join('\n'), /"rentalId":/, 'histories were read');
    for (const token of tokens) {
      // Its last four characters are its hint.
      const secret = token.slice('gpur_'.length, -4);
      for (const text of [...kept, ...inDatabase]) assert.ok(!text.includes(secret), text.slice(0, 500));
    }
    for (const text of kept) assert.ok(!/(ssh-|ecdsa-)[a-z0-9-]+ AAAA/.test(text), text.slice(0, 500));
  });
});
