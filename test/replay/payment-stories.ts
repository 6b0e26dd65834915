import { readAffected } from '../../adapters/postgres/operators/affected-rentals.js';
import { closingWorkflowId } from '../../domain/accounts/closing.js';
import type { OperationId } from '../../domain/ids.js';
import { taskQueues } from '../../domain/task-queues.js';
import type { OperatorAction } from '../../domain/operations/operation.js';
import { autoTopupWorkflowId } from '../../domain/payments/processor-routes.js';
import { AutoTopping } from '../support/story/auto-topping.js';
import { Invoicing } from '../support/story/invoicing.js';
import type { TestService } from '../support/service/living-service.js';
import { getWallet } from '../support/money/money.js';
import { placeOrder } from '../support/ops/operators.js';
import type { Paying } from '../support/story/paying.js';
import type { Renting } from '../support/story/renting.js';
import { insertSettled, orderAffected } from '../support/story/refunding.js';
import { until } from '../support/until.js';

/** Plays a story. @returns the id of the workflow whose history is kept */
export type Story = (service: TestService, renting: Renting, paying: Paying) => Promise<string>;

/** The recorded stories of the workflows about payments, by file name. */
export const paymentStories: Record<string, Story> = {
  'topup.succeeded': async (service, _renting, paying) => {
    const { topupId, url } = await paying.page(await service.signIn(), 2_500);
    await paying.pay(url);
    return ended(service, topupId);
  },
  'topup.expired': async (service, _renting, paying) => {
    const { topupId, sessionId } = await paying.page(await service.signIn(), 2_500);
    await service.stripe.checkout.sessions.expire(sessionId);
    return ended(service, topupId);
  },
  'topup.taken-up-again': async (service, _renting, paying) => {
    const { topupId, url } = await paying.page(await service.signIn(), 2_500);
    await paying.pay(url);
    await ended(service, topupId);
    await service.temporal.workflow.signalWithStart('topup', {
      ...{ workflowId: topupId, taskQueue: taskQueues.rentals, args: [{ topupId }] },
      ...{ signal: 'processor-event', workflowIdReusePolicy: 'ALLOW_DUPLICATE' },
    });
    return ended(service, topupId);
  },
  'topup.charged': async (service, _renting, paying) =>
    ended(service, (await charge(service, paying)).topupId),
  'closing.closed': async (service, _renting, paying) => {
    const user = await service.signIn();
    const { topupId, url } = await paying.page(user, 2_500);
    await paying.pay(url);
    await ended(service, topupId);
    await user.post('/v1/account/close', { email: user.user.email });
    const closings = () => service.db('account_closings').where({ user_id: user.user.id });
    await until('the person is gone', async () => (await closings().first())?.state === 'kept');
    await closings().update({ erased_at: new Date(0) });
    const workflowId = closingWorkflowId(user.user.id);
    await service.temporal.workflow.getHandle(workflowId).signal('processor-event');
    return ended(service, workflowId);
  },
  'autoTopup.charged': async (service) => {
    const { user, topping } = await armed(service, 'pm_card_visa');
    await topping.awaitAttempt(user, 'succeeded');
    await topping.put(user, { enabled: false });
    return ended(service, autoTopupWorkflowId(user.user.id));
  },
  'autoTopup.declined': async (service) => {
    const { user, topping } = await armed(service, 'pm_card_chargeCustomerFail');
    await topping.awaitAttempt(user, 'failed');
    return ended(service, autoTopupWorkflowId(user.user.id));
  },
  'invoice.paid': async (service) => {
    const invoicing = new Invoicing(service);
    const { id, hosted_invoice_url: url } = await invoicing.open(await service.signIn(), 700);
    await invoicing.pay(url ?? '');
    return ended(service, id);
  },
  'invoice.written-off': async (service) => {
    const invoicing = new Invoicing(service);
    const id = await invoicing.draft(await service.signIn(), 700);
    await invoicing.start(id, 100);
    return ended(service, id);
  },
  'operation.done': async (service) => {
    const { user } = await service.signIn();
    return operate(service, { kind: 'refund', userId: user.id, amountCents: 100 });
  },
  'operation.refused': async (service) => {
    const { user } = await service.signIn();
    return operate(service, { kind: 'adjust', userId: user.id, amountCents: -100 });
  },
  'operation.refunded-many': async (service) => {
    const { user } = await service.signIn(100);
    await insertSettled(service.db, await getWallet(service.db, user.id), 1);
    const now = Date.now();
    const window = { from: new Date(now - 3_600_000), to: new Date(now) };
    const [rental] = await readAffected(service.db, 'lab', window, 1);
    if (!rental) throw new Error('nobody is affected');
    return carryOut(service, await orderAffected(service.db, window, [rental.rentalId]));
  },
  'card.saved': async (service, _renting, paying) =>
    ended(service, await paying.saveCard(await service.signIn())),
  'payment.stray': async (service) => {
    const { user } = await service.signIn();
    const { id } = await service.stripe.paymentIntents.create({
      ...{ amount: 600, currency: 'usd', payment_method: 'pm_card_visa', confirm: true },
      ...{ payment_method_types: ['card'], metadata: { user_id: user.id } },
    });
    return endedOnceStarted(service, id);
  },
  'refund.succeeded': async (service, _renting, paying) => {
    const { payment_id } = await charge(service, paying);
    const { id } = await service.stripe.refunds.create({ payment_intent: payment_id });
    return endedOnceStarted(service, id);
  },
  'dispute.won': async (service, _renting, paying) => {
    const { charge_id } = await charge(service, paying);
    const id = String((await paying.order(`charges/${charge_id}/dispute`))['id']);
    await until('its money was taken', async () => {
      const row = await service.db('refunds_and_disputes').where({ id }).first();
      return row !== undefined && row.taken_at !== null;
    });
    await paying.order(`disputes/${id}/win`);
    await paying.liftMarks();
    return ended(service, id);
  },
};

async function operate(service: TestService, action: OperatorAction): Promise<string> {
  return carryOut(service, await placeOrder(service.db, action));
}

async function carryOut(service: TestService, operationId: OperationId): Promise<string> {
  await service.temporal.workflow.start('operation', {
    ...{ workflowId: operationId, taskQueue: taskQueues.rentals, args: [{ operationId }] },
  });
  return ended(service, operationId);
}

/** A user with a machine and a balance above the threshold of auto-topup. */
async function armed(service: TestService, method: string) {
  const topping = new AutoTopping(service);
  const user = await service.signIn(500);
  await topping.saveCard(user, method);
  await topping.run(user, 60);
  await topping.put(user, { enabled: true, thresholdCents: 1_000 });
  return { user, topping };
}

/** Waits until a workflow that an event starts has begun and ended. */
async function endedOnceStarted(service: TestService, workflowId: string): Promise<string> {
  const handle = service.temporal.workflow.getHandle(workflowId);
  await until(`workflow ${workflowId} has begun`, () =>
    handle.describe().then(
      () => true,
      () => false,
    ),
  );
  return ended(service, workflowId);
}

export async function ended(service: TestService, workflowId: string): Promise<string> {
  await service.temporal.workflow.getHandle(workflowId).result();
  return workflowId;
}

/** A top-up by a saved card that was credited. */
async function charge(service: TestService, paying: Paying) {
  const user = await service.signIn();
  await paying.saveCard(user);
  const { body } = await paying.checkout(user, 1_000);
  const { payment_id, charge_id } = await paying.awaitTopup(body.topupId, 'succeeded');
  if (payment_id === null || charge_id === null) throw new Error('a top-up that succeeded has a payment');
  return { topupId: body.topupId, payment_id, charge_id };
}
