import assert from 'node:assert/strict';
import { refusalStatus, type RefusalCode } from '../../../domain/refusal.js';
import { newId } from '../../../adapters/ids.js';
import type { Answer } from '../../support/http/answers.js';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { describedOperations } from '../../support/http/described.js';
import { insertOwned, kindOf, placesOf, withId, type IdPlace } from '../../support/http/id-places.js';

/** The places come from the description: a new endpoint with an id is covered as soon as it is described. */
const places = [...describedOperations()]
  .flatMap(([route, operation]) => placesOf(route, operation))
  // A create asks Temporal, which is away here, before it looks at its quote: test/contract/quotes.ts tries those.
  .filter(({ prefix }) => prefix !== 'quo');

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
      const id = await insertOwned[kindOf(place)]!(api, owner.user.id);
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
      assert.notEqual(own.body.error, code, 'its owner finds it all the same');
    });
  }
});

function ask(user: SignedIn, place: IdPlace, id: string): Promise<Answer> {
  const { method, path, body } = withId(place, id);
  return user.json(method, path, body);
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
    psk: 'passkey_not_found',
  };
  const code = of[prefix as keyof typeof of] as RefusalCode;
  const described = JSON.stringify(operation.responses['404']);
  assert.ok(refusalStatus[code] === 404 && described.includes(`"${code}"`), `${code} is described`);
  return code;
}
