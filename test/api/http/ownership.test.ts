import assert from 'node:assert/strict';
import type { UserId } from '../../../domain/ids.js';
import { getLedgerIds } from '../../../adapters/postgres/ledger/ledger-ids.js';
import { refusalStatus, type RefusalCode } from '../../../domain/refusal.js';
import { newId } from '../../../adapters/ids.js';
import type { Answer } from '../../support/http/answers.js';
import { creditTopup } from '../../../money/payments/credit.js';
import { paymentOf } from '../../support/activities/scripted-processor.js';
import { sealSecret } from '../../../adapters/sealed-secrets.js';
import { sealingKeys, startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { describedOperations, type DescribedOperation } from '../../support/http/described.js';
import {
  insertApiKeyOf,
  insertKey,
  insertRental,
  insertSessionOf,
  insertTopup,
} from '../../support/money/factories.js';
import { credit, getWallet } from '../../support/money/money.js';

/** A place in a request for the id of something that belongs to a user. */
interface IdPlace {
  readonly route: string;
  readonly where: 'path' | 'query' | 'body';
  readonly name: string;
  readonly prefix: string;
  readonly operation: DescribedOperation;
}

/** The places come from the description: a new endpoint with an id is covered as soon as it is described. */
const places = [...describedOperations()].flatMap(([route, operation]) => placesOf(route, operation));

describe('two users with each other’s ids', () => {
  let api: TestApi;
  let owner: SignedIn;
  let other: SignedIn;

  before(async () => {
    api = await startApi();
    [owner, other] = await Promise.all([api.signIn(), api.signIn()]);
    await api.db('providers').insert({ code: 'lab' }).onConflict().ignore();
  });
  after(() => api.stop());

  it('are tried at every endpoint whose path has an id', () => {
    const tried = new Set(places.filter(({ where }) => where === 'path').map(({ route }) => route));
    // The catalog is everybody's.
    const withId = [...describedOperations().keys()].filter(
      (route) => route.includes('{id}') && !route.includes('/catalog/'),
    );
    assert.deepEqual([...tried], withId);
    assert.ok(withId.length >= 8);
  });

  for (const place of places) {
    it(`${place.route} answers not-found for another’s ${place.name}, as for an unknown one`, async () => {
      const code = notFoundOf(place);
      const kind = place.route.includes('/api-keys/') ? 'api-key' : place.prefix;
      const id = await insert[kind]!(api, owner.user.id);
      const nobodys = `${place.prefix}_${newId('op').slice('op_'.length)}`;
      for (const [user, asked] of [
        [other, id],
        [other, nobodys],
        [owner, nobodys],
        [other, 'nothing-of-the-kind'],
      ] as const) {
        const answer = await ask(user, place, asked);
        assert.deepEqual([answer.status, answer.body.error], [404, code], asked);
      }
      const own = await ask(owner, place, id);
      assert.notEqual(own.status, 404, 'its owner finds it all the same');
    });
  }
});

/** Makes an entity for each kind of id. */
const insert: Record<string, (api: TestApi, userId: UserId) => Promise<string>> = {
  rent: async ({ db }, userId) => (await insertRental(db, userId)).id,
  key: async ({ db }, userId) => (await insertKey(db, userId)).id,
  'api-key': async ({ db }, userId) => (await insertApiKeyOf(db, userId)).row.id,
  // One that was paid has a receipt as well.
  async top({ db }, userId) {
    const { id: topupId, amount_cents: amountCents } = await insertTopup(db, userId);
    await creditTopup(db, topupId, paymentOf({ topupId, userId, amountCents }));
    return topupId;
  },
  async ses({ db }, userId) {
    await insertSessionOf(db, userId);
    const newest = await db('sessions').where({ user_id: userId }).orderBy('id', 'desc').first('id');
    return newest!.id;
  },
  async wh({ db }, userId) {
    const id = newId('wh');
    await db('webhooks').insert({ id, user_id: userId, url: 'https://example.com/', cursor_seq: 0 });
    const sealed = sealSecret(sealingKeys.publicKey, 'whsec_of_a_test', id);
    await db('webhook_secrets').insert({ webhook_id: id, no: 1, sealed });
    return id;
  },
  async led({ db }, userId) {
    await credit(db, userId, 100);
    const { id, seq } = await getWallet(db, userId);
    return (await getLedgerIds(db)).of(id, seq);
  },
  async inv({ db }, userId) {
    const wallet = await db('wallets').where({ user_id: userId }).first();
    const id = newId('inv');
    const row = { id, user_id: userId, wallet_id: wallet!.id, amount_cents: 120 };
    // A draft is internal, and a void invoice causes no call of the processor.
    const isVoid = { status: 'void', voided_at: db.raw('clock_ms()') } as const;
    await db('invoices').insert({ ...row, ...isVoid, reason: 'manual', cause: `test:${id}` });
    return id;
  },
};

function ask(user: SignedIn, { route, where, name, operation }: IdPlace, id: string): Promise<Answer> {
  const [method = '', template = ''] = route.split(' ');
  const path = template.replace('{id}', where === 'path' ? id : '');
  const query = where === 'query' ? `?${new URLSearchParams({ [name]: id }).toString()}` : '';
  const body = bodyOf(operation);
  const filled = where === 'body' ? { ...body, [name]: isList(operation, name) ? [id] : id } : body;
  return user.json(method.toUpperCase(), path + query, filled);
}

function placesOf(route: string, operation: DescribedOperation): IdPlace[] {
  const ofParameters = operation.parameters.map(({ name, in: where, schema }) => ({ name, where, schema }));
  const ofBody = Object.entries(propertiesOf(operation)).map(([name, schema]) => ({
    name,
    where: 'body',
    schema: (schema['items'] as Record<string, unknown> | undefined) ?? schema,
  }));
  return [...ofParameters, ...ofBody].flatMap(({ name, where, schema }) => {
    const prefix = schema['x-id-prefix'];
    if (typeof prefix !== 'string') return [];
    return [{ route, where: where as IdPlace['where'], name, prefix, operation }];
  });
}

function notFoundOf({ operation, prefix }: IdPlace): RefusalCode {
  const of = {
    rent: 'rental_not_found',
    key: 'key_not_found',
    top: 'topup_not_found',
    inv: 'invoice_not_found',
    led: 'not_found',
    wh: 'webhook_not_found',
    ses: 'session_not_found',
  };
  const code = of[prefix as keyof typeof of] as RefusalCode;
  const described = JSON.stringify(operation.responses['404']);
  assert.ok(refusalStatus[code] === 404 && described.includes(`"${code}"`), `${code} is described`);
  return code;
}

type Properties = Record<string, Record<string, unknown>>;

function propertiesOf({ requestBody }: DescribedOperation): Properties {
  const schema = requestBody?.content['application/json']?.schema;
  return (schema?.['properties'] as Properties | undefined) ?? {};
}

function isList(operation: DescribedOperation, name: string): boolean {
  return propertiesOf(operation)[name]?.['type'] === 'array';
}

function bodyOf({ requestBody }: DescribedOperation): object | undefined {
  const [example] = Object.values(requestBody?.content['application/json']?.examples ?? {});
  return example?.value as object | undefined;
}
