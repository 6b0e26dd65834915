import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import {
  insertRentalRequest,
  insertTopupRequest,
} from '../../../adapters/postgres/requests/opening-requests.js';
import { verifyLedger } from '../../../adapters/postgres/wallets/verify.js';
import { confirmDatabase, readWatermark } from '../../../adapters/postgres/restore/watermark.js';
import { signalWatermark, readKeptWatermark } from '../../../adapters/temporal/watermark.js';
import type { OperationId, TopupId } from '../../../domain/ids.js';
import { paymentLimits } from '../../../domain/payments/limits.js';
import type { RentalRequest } from '../../../domain/opening.js';
import { taskQueues } from '../../../domain/task-queues.js';
import type { RestoreOutcome } from '../../../workflows/contracts/restore.js';
import type { TopupInput, TopupOutcome } from '../../../workflows/contracts/topup.js';
import type { SignedIn } from '../../support/http/api.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { Invoicing } from '../../support/story/invoicing.js';
import { credit } from '../../support/money/money.js';
import { placeOrder } from '../../support/ops/operators.js';
import { Renting, startRental } from '../../support/story/renting.js';
import { until } from '../../support/until.js';

/** Decision 88, "Rows before workflows": a caller who reaches Temporal can name a row, and no more. */
describe('a workflow that somebody else than the service starts', () => {
  let service: TestService;
  let paying: Invoicing;
  let user: SignedIn;
  before(async () => {
    service = await startService();
    paying = new Invoicing(service);
  });
  beforeEach(async () => {
    user = await service.signIn();
  });
  afterEach(async () => {
    await paying.awaitHandled();
    assert.deepEqual(await verifyLedger(service.db), []);
  });
  after(() => service.stop());

  const soon = (): string => new Date(Date.now() + 20_000).toISOString();

  describe('topup', () => {
    beforeEach(() => paying.saveCard(user));

    async function start(topupId: TopupId, open: NonNullable<TopupInput['open']>): Promise<TopupOutcome> {
      return (await service.temporal.workflow.execute('topup', {
        ...{ workflowId: topupId, taskQueue: taskQueues.rentals, args: [{ topupId, open }] },
      })) as TopupOutcome;
    }

    const requests = async (): Promise<number> => (await paying.state()).payment_intents.length;

    it('charges nobody’s card for an amount and a user in its input', async () => {
      const before = await requests();
      const topupId = newId('top');
      const open = { userId: user.user.id, amountCents: 5_000, answerBefore: soon() };
      assert.deepEqual(await start(topupId, open), { outcome: 'refused', code: 'temporarily_unavailable' });
      assert.equal(await service.db('topups').where({ id: topupId }).first(), undefined);
      assert.equal(await requests(), before);
    });

    it('charges what the committed request says, whatever its input says', async () => {
      const [topupId, victim] = [newId('top'), await service.signIn()];
      const request = { userId: user.user.id, amountCents: 700 };
      await insertTopupRequest(service.db, topupId, request, new Date(soon()));
      const open = { userId: victim.user.id, amountCents: 5_000, answerBefore: soon() };
      assert.deepEqual(await start(topupId, open), { outcome: 'succeeded' });
      assert.deepEqual(await paying.entries(user), [['processor_topup', 700]]);
      assert.deepEqual(await paying.entries(victim), []);
    });

    it('begins nothing after the time that the request was given, whatever its input says', async () => {
      const topupId = newId('top');
      const request = { userId: user.user.id, amountCents: 700 };
      await insertTopupRequest(service.db, topupId, request, new Date(Date.now() - 1_000));
      const outcome = await start(topupId, { answerBefore: '2099-01-01T00:00:00.000Z' });
      assert.deepEqual(outcome, { outcome: 'refused', code: 'temporarily_unavailable' });
      assert.deepEqual(await paying.entries(user), []);
    });
  });

  describe('rental', () => {
    const request: RentalRequest = {
      ...{ userId: 'usr_', familyId: 'rtx-4090', gpuCount: 1, templateId: 'ubuntu-24-04', region: null },
      ...{
        name: null,
        sshKeyIds: [],
        autoStopAfterMs: null,
        maxSpendCents: null,
        maxPricePerHourCents: null,
      },
    };
    let renting: Renting;
    beforeEach(async () => {
      renting = new Renting(service);
      await credit(service.db, user.user.id, 5_000);
    });

    const codeOf = (opening: Promise<void>): Promise<string> =>
      opening.then(
        () => 'opened',
        (error: unknown) => (error as { cause?: { type?: string } }).cause?.type ?? String(error),
      );

    it('opens what the committed request says, whatever its input says', async () => {
      const [rentalId, victim] = [newId('rent'), await service.signIn(50_000)];
      const asked = { ...request, userId: user.user.id, name: 'as it was asked' };
      await insertRentalRequest(service.db, rentalId, asked, new Date(soon()));
      const open = {
        ...{ ...request, userId: victim.user.id, familyId: 'b200', gpuCount: 8, name: 'forged' },
        answerBefore: '2099-01-01T00:00:00.000Z',
      };
      await startRental(service.temporal, { rentalId, open });
      const row = await renting.row(rentalId);
      assert.deepEqual([row.user_id, row.family, row.name], [user.user.id, 'rtx-4090', 'as it was asked']);
      await renting.stop(user, rentalId);
    });

    it('opens nothing after the time that the request was given', async () => {
      const rentalId = newId('rent');
      const asked = { ...request, userId: user.user.id };
      await insertRentalRequest(service.db, rentalId, asked, new Date(Date.now() - 1_000));
      const open = { answerBefore: '2099-01-01T00:00:00.000Z' };
      assert.equal(
        await codeOf(startRental(service.temporal, { rentalId, open })),
        'temporarily_unavailable',
      );
    });
  });

  it('gives up no debt by a short day in its input', async () => {
    const deployed = await startService({ minDunningDayMs: paymentLimits.dayMs });
    try {
      const debts = new Invoicing(deployed);
      const id = await debts.draft(await deployed.signIn(), 700);
      await debts.start(id, 1);
      const { due_at: dueAt, finalized_at: openedAt } = await debts.awaitInvoice(id, 'open');
      assert.equal(dueAt!.getTime() - openedAt!.getTime(), 7 * paymentLimits.dayMs);
    } finally {
      await deployed.stop();
    }
  });

  // This test comes last and has a block of its own: it leaves the database behind Temporal's watermark, and mends it.
  describe('restore', () => {
    it('lets no restored database go on that no operator has ordered to', async () => {
      const { value } = await readWatermark(service.db);
      const { workflow } = service.temporal;
      await signalWatermark(workflow, value + 60);
      await until('it is shown', async () => (await readKeptWatermark(workflow)) === value + 60);
      assert.equal(await confirmDatabase(service.db, value + 60), 'restored');
      const reconcile = async (operationId: OperationId): Promise<RestoreOutcome> =>
        (await workflow.execute('restore', {
          ...{ workflowId: operationId, taskQueue: taskQueues.rentals },
          args: [{ reconcile: { operationId, operator: 'ada', reason: 'x', withoutSilentUpstreams: true } }],
        })) as RestoreOutcome;
      const forged = await reconcile(newId('op'));
      assert.deepEqual(
        [forged.outcome, (forged.message ?? '').includes('There is no order op_')],
        ['refused', true],
      );
      const [brake] = await service.db('brakes');
      assert.equal(brake?.kind, 'restored');
      const action = { kind: 'reconcile_restored', withoutSilentUpstreams: false } as const;
      assert.equal((await reconcile(await placeOrder(service.db, action))).outcome, 'reconciled');
      assert.deepEqual(await service.db('brakes'), []);
    });
  });
});
