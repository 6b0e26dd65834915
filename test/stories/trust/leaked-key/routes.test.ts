import assert from 'node:assert/strict';
import type { Answer } from '../../../support/http/answers.js';
import { describedOperations, type DescribedOperation } from '../../../support/http/described.js';
import { bodiesOf, kindOf, placesOf, withId } from '../../../support/http/id-places.js';
import { agentScopes, machine, machinesOf, Owner, type LeakedKey } from './owner.js';

interface Attack {
  readonly method: string;
  readonly path: string;
  readonly body: object | undefined;
  /** Whether it names something of somebody else's. */
  readonly namesOther: boolean;
}

/** Each operation of the description that knows who asks: a new route is tried as soon as it is described. */
const operations = [...describedOperations()].filter(
  ([route, { security }]) => security.length > 0 && !route.endsWith('/stream'),
);
/** What is free to a key for each machine that it sees (decision 133, "Keys that end their own"). */
const words = ['name', 'notes', 'labels'];
const CAP_CENTS = 500;

describe('a leaked key of an agent, at every route', () => {
  let owner: Owner;
  before(async () => {
    owner = await Owner.start();
  });
  after(() => owner.stop());

  /** All that an attacker asks of an operation: each example, with each id of somebody else in its place. */
  function attacksOn([route, operation]: (typeof operations)[number]): Attack[] {
    const [method = '', path = ''] = route.split(' ');
    const bodies = method === 'get' ? [undefined] : [...bodiesOf(operation), {}];
    const named = placesOf(route, operation).flatMap((place) => {
      const id = owner.ids[kindOf(place)];
      assert.ok(id !== undefined, `say in insertOwned what of the kind ${kindOf(place)} an attacker names`);
      // The owner’s SSH keys let the owner in, and nobody else.
      const isHarmless = place.name === 'sshKeyIds';
      return (place.where === 'body' ? [undefined] : bodies).map((body) => ({
        ...withId(place, id, body),
        namesOther: !isHarmless,
      }));
    });
    const plain = path.includes('{')
      ? []
      : bodies.map((body) => ({ method: method.toUpperCase(), path, body }));
    return [...named, ...plain.map((asked) => ({ ...asked, namesOther: false }))].map((asked) => ({
      ...asked,
      path: withFlags(asked.path, operation),
    }));
  }

  function ask({ client }: LeakedKey, { method, path, body }: Attack): Promise<Answer> {
    return client.json(method, path, method === 'GET' ? undefined : body);
  }

  it('changes, ends and reads nothing of anybody else', async () => {
    const key = await owner.leak(CAP_CENTS);
    await owner.unharmed(key, async () => {
      for (const each of operations) {
        const attacks = attacksOn(each);
        if (!each[0].includes('/catalog/')) assert.ok(attacks.length > 0, each[0]);
        for (const attack of attacks) {
          const { status, text } = await ask(key, attack);
          const what = `${attack.method} ${attack.path} ${JSON.stringify(attack.body)} ${status}`;
          assert.ok(status < 500, `${what} ${text}`);
          if (!isOpenTo(each[1])) assert.equal(status, 403, what);
          else if (attack.namesOther) assert.ok(status >= 400, `${what} ${text}`);
          owner.assertTellsNothing(text, what);
        }
      }
    });
  });

  it('ends and limits nothing of anybody else, also where it has no cap and so sees all', async () => {
    const key = await owner.leak(null);
    await owner.unharmed(key, async () => {
      for (const each of operations.filter(([, operation]) => isOpenTo(operation)))
        for (const attack of attacksOn(each).filter(isMoreThanWords)) await ask(key, attack);
      for (const { id } of owner.machines) {
        for (const answer of [
          await key.client.post(`/v1/rentals/${id}/stop`),
          await key.client.patch(`/v1/rentals/${id}`, { maxSpendCents: 1 }),
          await key.client.patch(`/v1/rentals/${id}`, { autoStopAfterHours: 1, name: 'ended' }),
        ])
          assert.deepEqual([answer.status, answer.body.error], [403, 'key_ends_own']);
      }
    });
  });

  it('spends nothing beyond its cap, also by requests that come at once', async () => {
    const key = await owner.leak(CAP_CENTS);
    const { client } = key;
    const own = await owner.renting.run(client, machine, { maxSpendCents: 100 });
    await owner.unharmed(key, async () => {
      const quotes = await Promise.all(
        [150, 250, null].map((maxSpendCents) =>
          client.post('/v1/quotes', { ...machine, ...(maxSpendCents && { maxSpendCents }) }),
        ),
      );
      const answers = await Promise.all([
        ...[100, 200, 300, 400].map((maxSpendCents) =>
          client.post('/v1/rentals', { ...machine, maxSpendCents }),
        ),
        ...quotes.map(({ body: { quoteId } }) => client.post('/v1/rentals', { quoteId })),
        ...[200, 400, 500].map((maxSpendCents) => client.patch(`/v1/rentals/${own.id}`, { maxSpendCents })),
        client.post('/v1/rentals', machine),
        client.patch(`/v1/rentals/${own.id}`, { maxSpendCents: null }),
      ]);
      const refused = answers.filter(({ status }) => status !== 200).map(({ body }) => body.error);
      assert.ok(refused.length < answers.length && refused.length > 4, refused.join());
    });
    assert.ok((await machinesOf(client)).includes(own.id));
  });
});

const isOpenTo = ({ security }: DescribedOperation): boolean =>
  security.some(({ key = [] }) => key.some((scope) => agentScopes.some((own) => own === scope)));

const isMoreThanWords = ({ body = {} }: Attack): boolean =>
  !Object.keys(body).some((field) => words.includes(field)) ||
  Object.keys(body).some((field) => !words.includes(field));

/** Every switch of a query turned on. */
function withFlags(path: string, { parameters }: DescribedOperation): string {
  const flags = parameters.filter(
    ({ in: where, schema }) => where === 'query' && schema['type'] === 'boolean',
  );
  const query = flags.map(({ name }) => `${name}=true`).join('&');
  return query === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${query}`;
}
