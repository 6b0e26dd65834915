import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { makeUnsubscribeUrl } from '../../../adapters/postgres/notices/unsubscribe-links.js';
import { closedAddressSql } from '../../../domain/accounts/closing.js';
import type { OptionalKind } from '../../../domain/notices/kinds.js';
import { noticeLimits } from '../../../domain/notices/limits.js';
import type { Answer } from '../../support/http/answers.js';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
const ONE_CLICK = 'List-Unsubscribe=One-Click';

describe('the link that switches mails off', () => {
  let api: TestApi;
  let user: SignedIn;
  let path: string;
  before(async () => {
    api = await startApi();
  });
  beforeEach(async () => {
    user = await api.signIn();
    path = await link('rental_lost');
  });
  after(() => api.stop());

  /** The link's path, made this long ago. */
  async function link(kind: OptionalKind, agoMs = 0): Promise<string> {
    const grant = { userId: user.user.id, kind };
    return makeUnsubscribeUrl(api.db, '', grant, Date.now() - agoMs);
  }

  const off = (): Promise<string[]> =>
    api.db('notice_settings').where({ user_id: user.user.id }).orderBy('kind').pluck('kind');
  const titleOf = ({ body }: Answer): string | undefined =>
    /<title>(.*)<\/title>/.exec(body as unknown as string)?.[1];
  const post = (to: string, headers: Record<string, string> = {}): Promise<Answer> =>
    api.stranger().send('POST', to, ONE_CLICK, { ...FORM, ...headers });

  it('asks when it is opened, and changes nothing: mail scanners open every link', async () => {
    for (const method of ['GET', 'HEAD', 'GET']) {
      const answer = await api.stranger().send(method, path, undefined, {});
      assert.equal(answer.status, 200);
      if (method === 'GET') {
        assert.equal(titleOf(answer), 'Turn off these emails?');
        assert.match(answer.body as unknown as string, /<form method="post">/);
      }
    }
    assert.deepEqual(await off(), []);
  });

  it('switches its kind off by one POST without a session, once, with an audit row', async () => {
    for (let time = 0; time < 2; time += 1) {
      const answer = await post(path);
      assert.deepEqual([answer.status, titleOf(answer)], [200, 'These emails are off']);
    }
    assert.deepEqual(await off(), ['rental_lost']);
    const trail = await api.db('audit_events').where({ user_id: user.user.id, kind: 'notices_changed' });
    assert.deepEqual(
      trail.map(({ details }) => details),
      [{ by: 'link', rental_lost: false }],
    );
    assert.equal(titleOf(await api.stranger().get(path)), 'These emails are off');
  });

  it('takes the form as mail programs and browsers send it', async () => {
    // The page tells no other site its address, so browsers call its origin null.
    assert.equal((await post(path, { Origin: 'null' })).status, 200);
    assert.equal((await post(path, { Origin: 'https://mail.example.com' })).status, 200);
    const parts = new FormData();
    parts.set('List-Unsubscribe', 'One-Click');
    const byParts = await fetch(`${api.url}${await link('rental_failed')}`, { method: 'POST', body: parts });
    assert.equal(byParts.status, 200);
    const bare = await api.stranger().send('POST', await link('rental_auto_stop'), undefined, {});
    assert.equal(bare.status, 200);
    assert.deepEqual(await off(), ['rental_auto_stop', 'rental_failed', 'rental_lost']);
  });

  it('lets no page of a foreign origin do anything else', async () => {
    const answer = await user.post('/v1/auth/logout', undefined, { Origin: 'null' });
    assert.equal(answer.status, 403);
  });

  it('does nothing when it is forged, cut, or made for another user or kind', async () => {
    const other = await api.signIn();
    const [, token = ''] = path.split('?token=');
    const [, , expires, mac = ''] = token.split('.');
    const forged = [
      '',
      'x',
      token.slice(0, -1),
      `${token}A`,
      token.replace(user.user.id, other.user.id),
      token.replace('rental_lost', 'rental_failed'),
      token.replace('rental_lost', 'rental_balance_exhausted'),
      token.replace(expires!, String(Number(expires) + 1)),
      token.replace(mac, 'A'.repeat(43)),
      token.replace(mac, mac.startsWith('A') ? `B${mac.slice(1)}` : `A${mac.slice(1)}`),
    ];
    for (const one of forged) {
      const to = `/v1/notices/unsubscribe?token=${encodeURIComponent(one)}`;
      for (const answer of [await post(to), await api.stranger().get(to)]) {
        assert.deepEqual([answer.status, titleOf(answer)], [404, 'This link does not work'], one);
      }
    }
    const twice = await post(`${path}&token=${token}`);
    assert.equal(twice.status, 404);
    assert.equal((await post('/v1/notices/unsubscribe')).status, 404);
    assert.deepEqual(await api.db('notice_settings').whereIn('user_id', [user.user.id, other.user.id]), []);
  });

  it('has expired once its account is erased', async () => {
    const { id } = user.user;
    await api.db('account_closings').insert({ user_id: id });
    await api.db.raw(`update users t set email = ${closedAddressSql} where id = ?`, [id]);
    for (const answer of [await post(path), await api.stranger().get(path)])
      assert.deepEqual([answer.status, titleOf(answer)], [410, 'This link has expired']);
    assert.deepEqual(await off(), []);
    assert.equal(
      await api.db('audit_events').where({ user_id: id, kind: 'notices_changed' }).first(),
      undefined,
    );
  });

  it('holds for 180 days', async () => {
    assert.equal(noticeLimits.linkMs, 180 * 86_400_000);
    const old = await link('rental_lost', noticeLimits.linkMs + 1_000);
    for (const answer of [await post(old), await api.stranger().get(old)]) {
      assert.deepEqual([answer.status, titleOf(answer)], [410, 'This link has expired']);
    }
    assert.deepEqual(await off(), []);
    const young = await link('rental_lost', noticeLimits.linkMs - 60_000);
    assert.equal((await post(young)).status, 200);
    assert.deepEqual(await off(), ['rental_lost']);
  });

  it('is signed by a key of the installation alone: another one’s links are not ours', async () => {
    const other = await startApi();
    try {
      // Test databases are copies of one that was migrated once.
      await other
        .db('installation_keys')
        .where({ name: 'unsubscribe_links' })
        .update({ key: randomBytes(32) });
      const grant = { userId: user.user.id, kind: 'rental_lost' } as const;
      const theirs = await makeUnsubscribeUrl(other.db, '', grant, Date.now());
      assert.equal((await post(theirs)).status, 404);
    } finally {
      await other.stop();
    }
  });

  it('shows pages that load and run nothing, and nothing of what an address says', async () => {
    const { headers, body } = await api.stranger().get(path);
    assert.match(headers.get('content-security-policy') ?? '', /^default-src 'none';.*form-action 'self'/);
    assert.equal(headers.get('referrer-policy'), 'no-referrer');
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.ok(!(body as unknown as string).includes(user.user.id), 'the page names no user');
    const odd = await api.stranger().get('/v1/notices/unsubscribe?token=%3Cscript%3Ex');
    assert.ok(!(odd.body as unknown as string).includes('script'));
  });

  it('takes no body of more than 4 KiB', async () => {
    assert.equal((await api.stranger().send('POST', path, 'x'.repeat(4_097), FORM)).status, 413);
    assert.deepEqual(await off(), []);
  });
});
