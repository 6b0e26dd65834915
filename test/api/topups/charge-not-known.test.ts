import assert from 'node:assert/strict';
import type { TemporalGate } from '../../../adapters/temporal/gate.js';
import type { TopupId } from '../../../domain/ids.js';
import { Refusal } from '../../../domain/refusal.js';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { insertTopup } from '../../support/money/factories.js';

describe('a checkout whose charge was sent', () => {
  let api: TestApi;
  /** What the workflow answers, one asker after the other. */
  let answers: ((id: TopupId) => Promise<unknown>)[] = [];

  before(async () => {
    api = await startApi();
    await api.deps.temporal.close();
    const executeUpdateWithStart = (
      _update: unknown,
      told: { startWorkflowOperation: { options: { workflowId: TopupId } } },
    ) => answers.shift()!(told.startWorkflowOperation.options.workflowId);
    const temporal = {
      client: { workflow: { executeUpdateWithStart } },
      isReachable: () => Promise.resolve(true),
      within: <T>(_limitMs: number, call: () => Promise<T>) => call(),
      close: () => Promise.resolve(),
    };
    Object.assign(api.deps, { temporal: temporal as unknown as TemporalGate });
  });
  after(() => api.stop());

  /** As a worker does right before it asks the processor. */
  async function insertSent({ user }: SignedIn, id: TopupId): Promise<void> {
    const sent = { status: 'processing', source: 'saved_card', charge_sent_at: new Date() } as const;
    const pageless = { session_id: null, checkout_url: null, session_expires_at: null };
    await insertTopup(api.db, user.id, { id, pm_id: `pm_${id}`, ...sent, ...pageless });
  }

  it('waits for the outcome when the connection to the workflow is lost for a moment', async () => {
    const user = await api.signIn();
    answers = [
      async (id) => {
        await insertSent(user, id);
        throw new Error('UNAVAILABLE');
      },
      async (id) => {
        const end = { status: 'failed', decline_code: 'lost_card', closed_at: new Date() } as const;
        await api.db('topups').where({ id }).update(end);
        throw new Refusal('card_declined', 'The bank declined the card.', {
          declineCode: 'lost_card',
          topupId: id,
        });
      },
    ];
    const { status, body } = await user.post('/v1/billing/checkout', { amountCents: 1_000 });
    assert.deepEqual([status, body.error], [402, 'card_declined']);
  });

  it('is answered with "processing" when the workflow says that it is not known in time', async () => {
    const user = await api.signIn();
    answers = [
      async (id) => {
        await insertSent(user, id);
        throw new Refusal('temporarily_unavailable', 'late');
      },
    ];
    const { status, body } = await user.post('/v1/billing/checkout', { amountCents: 1_000 });
    assert.deepEqual([status, body.status], [200, 'processing']);
  });
});
