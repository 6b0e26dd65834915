import { sealSecret } from '../../../adapters/sealed-secrets.js';
import { insertQuote } from '../../../adapters/postgres/rentals/quotes.js';
import { getLedgerIds } from '../../../adapters/postgres/ledger/ledger-ids.js';
import { newId } from '../../../adapters/ids.js';
import type { UserId } from '../../../domain/ids.js';
import { unnamedSeller } from '../../../domain/payments/receipt.js';
import { creditTopup } from '../../../money/payments/credit.js';
import { paymentOf } from '../activities/scripted-processor.js';
import {
  insertApiKeyOf,
  insertKey,
  insertListing,
  insertProvider,
  insertRental,
  insertSessionOf,
  insertTopup,
} from '../money/factories.js';
import { credit, getWallet } from '../money/money.js';
import { sealingKeys, type TestApi } from './api.js';
import { document, type DescribedOperation } from './described.js';

/** The places of ids in requests, as the description names them, and what they may name. */

/** A place in a request for the id of something that belongs to a user. */
export interface IdPlace {
  readonly route: string;
  readonly where: 'path' | 'query' | 'body';
  readonly name: string;
  readonly prefix: string;
  readonly operation: DescribedOperation;
}

/** The kind of thing that a place names: API keys share the prefix of SSH keys. */
export const kindOf = ({ route, prefix }: IdPlace): string =>
  route.includes('/api-keys/') ? 'api-key' : prefix;

/** Makes what belongs to a user, for each kind of id. */
export const insertOwned: Readonly<
  Record<string, (api: Pick<TestApi, 'db'>, userId: UserId) => Promise<string>>
> = {
  rent: async ({ db }, userId) => (await insertRental(db, userId)).id,
  key: async ({ db }, userId) => (await insertKey(db, userId)).id,
  'api-key': async ({ db }, userId) => (await insertApiKeyOf(db, userId)).row.id,
  // One that was paid has a receipt as well.
  async top({ db }, userId) {
    const { id: topupId, amount_cents: amountCents } = await insertTopup(db, userId);
    await creditTopup(db, topupId, paymentOf({ topupId, userId, amountCents }), unnamedSeller);
    return topupId;
  },
  async ses({ db }, userId) {
    await insertSessionOf(db, userId);
    const newest = await db('sessions').where({ user_id: userId }).orderBy('id', 'desc').first('id');
    return newest!.id;
  },
  async psk({ db }, userId) {
    const id = newId('psk');
    const backup = { backup_eligible: false, backed_up: false };
    const device = { public_key: Buffer.from('k'), counter: 0, transports: [], ...backup };
    await db('passkeys').insert({
      id,
      user_id: userId,
      name: 'A',
      credential_id: Buffer.from(id),
      ...device,
    });
    return id;
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
  async quo({ db }, userId) {
    const id = newId('quo');
    const listing = await insertListing(db, { provider_code: await insertProvider(db) });
    const words = { templateId: 'ubuntu-24-04', region: null, name: null, sshKeyIds: [] };
    const limits = { autoStopAfterMs: null, maxSpendCents: null, maxPricePerHourCents: null };
    const request = { userId, familyId: listing.family, gpuCount: listing.gpu_count, ...words, ...limits };
    await insertQuote(db, { id, request, listing });
    return id;
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

/** Every place of an id in an operation's requests. */
export function placesOf(route: string, operation: DescribedOperation): IdPlace[] {
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

type Schema = Record<string, unknown>;
type Properties = Record<string, Schema>;

/** The fields of a body, in any of its shapes. */
function propertiesOf({ requestBody }: DescribedOperation): Properties {
  return fieldsIn(requestBody?.content['application/json']?.schema ?? {});
}

function fieldsIn(schema: Schema): Properties {
  const { $ref, oneOf, properties } = schema as { $ref?: string; oneOf?: Schema[]; properties?: Properties };
  if ($ref !== undefined) return fieldsIn(document.components.schemas[$ref.split('/').at(-1)!] as Schema);
  return Object.assign({}, properties, ...(oneOf ?? []).map(fieldsIn)) as Properties;
}

/** The examples of an operation's bodies. */
export function bodiesOf({ requestBody }: DescribedOperation): readonly object[] {
  const examples = Object.values(requestBody?.content['application/json']?.examples ?? {});
  return examples.map(({ value }) => value as object);
}

/**
 * A request with an id in its place.
 * @param body what it says beside; default: an example that has the place, else the first one
 */
export function withId(
  { route, where, name, operation }: IdPlace,
  id: string,
  body: object | undefined = exampleWith(name, operation),
): { readonly method: string; readonly path: string; readonly body: object | undefined } {
  const [method = '', template = ''] = route.split(' ');
  const path = template.replace('{id}', where === 'path' ? id : '');
  const query = where === 'query' ? `?${new URLSearchParams({ [name]: id }).toString()}` : '';
  const isList = propertiesOf(operation)[name]?.['type'] === 'array';
  const filled = where === 'body' ? { ...body, [name]: isList ? [id] : id } : body;
  return { method: method.toUpperCase(), path: path + query, body: filled };
}

function exampleWith(field: string, operation: DescribedOperation): object | undefined {
  const bodies = bodiesOf(operation);
  return bodies.find((body) => Object.hasOwn(body, field)) ?? bodies[0];
}
