import assert from 'node:assert/strict';
import type { UserId } from '../../../domain/ids.js';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';

const DAY_MS = 86_400_000;
const ago = (ms: number): Date => new Date(Date.now() - ms);

describe('how an account stands', () => {
  let api: TestApi;
  let user: SignedIn;

  before(async () => {
    api = await startApi({ settings: { supportContact: 'help@example.com' } });
  });
  beforeEach(async () => {
    user = await api.signIn();
  });
  after(() => api.stop());

  const standing = async () => (await user.get('/v1/billing/standing')).body as unknown as Standing;
  interface Standing {
    readonly blockedReason: string | null;
    readonly chargesHeld: boolean;
    readonly reversals: readonly {
      kind: string;
      amountCents: number;
      debitedCents: number;
      takenAt: string;
    }[];
  }

  async function takeBack(
    id: string,
    parts: { kind?: 'refund'; takenAt?: Date | null; closedAt?: Date; givenBackAt?: Date; of?: UserId },
  ): Promise<void> {
    const userId = parts.of ?? user.user.id;
    const wallet = await api.db('wallets').where({ user_id: userId }).first('id');
    const takenAt = parts.takenAt === undefined ? ago(0) : parts.takenAt;
    await api.db('refunds_and_disputes').insert({
      ...{
        id,
        kind: parts.kind ?? 'dispute',
        payment_id: `pi_${id}`,
        user_id: userId,
        wallet_id: wallet!.id,
      },
      ...{ amount_cents: 2_000, debited_cents: takenAt === null ? 0 : 1_500, status: 'x', taken_at: takenAt },
      ...{ closed_at: parts.closedAt ?? null, given_back_at: parts.givenBackAt ?? null },
    });
  }

  it('is well at first', async () => {
    assert.deepEqual(await standing(), { blockedReason: null, chargesHeld: false, reversals: [] });
  });

  it('tells a block', async () => {
    const block = { blocked_at: new Date(), blocked_reason: 'fraud' };
    await api.db('users').where({ id: user.user.id }).update(block);
    assert.equal((await standing()).blockedReason, 'fraud');
  });

  it('tells a mark against the user, and against their card, until it is lifted', async () => {
    const mark = (id: string, parts: object) =>
      api.db('charge_marks').insert({ id, kind: 'dispute', charge_id: `ch_${id}`, ...parts });
    await mark('du_other', { user_id: (await api.signIn()).user.id });
    assert.equal((await standing()).chargesHeld, false);
    await mark('du_own', { user_id: user.user.id });
    assert.equal((await standing()).chargesHeld, true);
    await api.db('charge_marks').where({ id: 'du_own' }).update({ lifted_at: new Date() });
    assert.equal((await standing()).chargesHeld, false);
  });

  it('tells open disputes and what was taken back lately, newest first', async () => {
    await takeBack('du_open', { takenAt: ago(40 * DAY_MS) });
    await takeBack('du_lost', { takenAt: ago(6 * DAY_MS), closedAt: ago(0) });
    await takeBack('re_new', { kind: 'refund', takenAt: ago(60_000), closedAt: ago(0) });
    await takeBack('du_won', { takenAt: ago(60_000), givenBackAt: ago(0) });
    await takeBack('re_old', { kind: 'refund', takenAt: ago(8 * DAY_MS), closedAt: ago(0) });
    await takeBack('du_asked', { takenAt: null });
    await takeBack('du_other', { of: (await api.signIn()).user.id });
    const { reversals } = await standing();
    assert.deepEqual(
      reversals.map(({ kind, debitedCents, takenAt }) => [
        kind,
        debitedCents,
        Math.round((Date.now() - Date.parse(takenAt)) / DAY_MS),
      ]),
      [
        ['refund', 1_500, 0],
        ['dispute', 1_500, 6],
        ['dispute', 1_500, 40],
      ],
    );
  });

  it('refusals that send people to support name it, and no others', async () => {
    const off = await startApi({
      settings: {
        supportContact: 'help@example.com',
        billing: { enabled: false, publishableKey: '', livemode: false, simulatorUrl: null },
      },
    });
    try {
      const person = await off.signIn();
      const refused = await person.post('/v1/billing/checkout', { amountCents: 100 });
      assert.deepEqual(
        [refused.body.error, (refused.body as { support?: string }).support],
        ['billing_disabled', 'help@example.com'],
      );
      const { body } = await person.get('/v1/billing/config');
      assert.equal((body as { supportContact?: string }).supportContact, 'help@example.com');
    } finally {
      await off.stop();
    }
    const other = await user.post('/v1/billing/checkout', {});
    assert.deepEqual([other.status, 'support' in other.body], [400, false]);
  });
});
