import assert from 'node:assert/strict';
import { allNoticeKinds, isOptional, noticeKinds } from '../../../domain/notices/kinds.js';
import type { Answer } from '../../support/http/answers.js';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';

interface Notice {
  readonly kind: string;
  readonly on: boolean;
  readonly canSwitchOff: boolean;
  readonly description: string;
}

describe('/v1/notices', () => {
  let api: TestApi;
  let user: SignedIn;
  before(async () => {
    api = await startApi();
  });
  beforeEach(async () => {
    user = await api.signIn();
  });
  after(() => api.stop());

  const noticesOf = ({ body }: Answer): readonly Notice[] =>
    (body as unknown as { notices: readonly Notice[] }).notices;
  const offOf = (answer: Answer): string[] =>
    noticesOf(answer)
      .filter(({ on }) => !on)
      .map(({ kind }) => kind);
  const audited = (): Promise<unknown[]> =>
    api
      .db('audit_events')
      .where({ user_id: user.user.id, kind: 'notices_changed' })
      .orderBy('no')
      .pluck('details');

  it('tells every kind, what it is, and whether it can be switched off', async () => {
    const answer = await user.get('/v1/notices');
    assert.equal(answer.status, 200);
    assert.deepEqual(
      noticesOf(answer),
      allNoticeKinds.map((kind) => ({ kind, on: true, ...noticeKinds[kind] })),
    );
  });

  it('switches kinds off and on, each change with its audit row', async () => {
    const off = await user.put('/v1/notices', { kinds: { rental_lost: false, rental_failed: false } });
    assert.equal(off.status, 200);
    assert.deepEqual(offOf(off), ['rental_lost', 'rental_failed']);
    const on = await user.put('/v1/notices', { kinds: { rental_lost: true } });
    assert.deepEqual(offOf(on), ['rental_failed']);
    assert.deepEqual(offOf(await user.get('/v1/notices')), ['rental_failed']);
    assert.deepEqual(await audited(), [{ rental_lost: false, rental_failed: false }, { rental_lost: true }]);
  });

  it('writes nothing down where nothing changes, also when two ask for the same at once', async () => {
    await user.put('/v1/notices', { kinds: { rental_lost: true, low_balance: true } });
    assert.deepEqual(await audited(), []);
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => user.put('/v1/notices', { kinds: { rental_lost: false } })),
    );
    assert.deepEqual(
      answers.map(({ status }) => status),
      Array(8).fill(200),
    );
    assert.deepEqual(await audited(), [{ rental_lost: false }]);
  });

  it('is each user’s own', async () => {
    const other = await api.signIn();
    await user.put('/v1/notices', { kinds: { rental_lost: false } });
    assert.deepEqual(offOf(await other.get('/v1/notices')), []);
  });

  for (const kind of allNoticeKinds.filter((one) => !isOptional(one))) {
    it(`keeps ${kind} on, names it, and changes nothing else`, async () => {
      const { status, body } = await user.put('/v1/notices', {
        kinds: { rental_lost: false, [kind]: false },
      });
      assert.deepEqual([status, body.error], [400, 'validation_failed']);
      const { fields } = body.details;
      assert.deepEqual(
        fields.map(({ field }) => field),
        [`kinds.${kind}`],
      );
      assert.match(fields[0]?.message ?? '', /can’t be turned off/);
      assert.deepEqual(offOf(await user.get('/v1/notices')), []);
    });
  }

  for (const [what, body, field] of [
    ['an unknown kind', { kinds: { gifts: false } }, 'kinds.gifts'],
    ['a text for a truth', { kinds: { rental_lost: 'false' } }, 'kinds.rental_lost'],
    ['no kind', { kinds: {} }, 'kinds'],
    ['nothing', {}, 'kinds'],
  ] as const) {
    it(`refuses ${what}, and names it`, async () => {
      const answer = await user.put('/v1/notices', body);
      assert.deepEqual([answer.status, answer.body.error], [400, 'validation_failed']);
      const { fields } = answer.body.details;
      assert.deepEqual(
        fields.map((fault) => fault.field),
        [field],
      );
    });
  }

  it('is for who is signed in', async () => {
    assert.equal((await api.stranger().get('/v1/notices')).status, 401);
    assert.equal((await api.stranger().put('/v1/notices', { kinds: { rental_lost: false } })).status, 401);
  });
});
