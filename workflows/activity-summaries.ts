import type { WorkflowInterceptorsFactory } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';

/** The purpose of each activity in words, which operators read beside it in a workflow's history. */
const summaries: Record<keyof Activities, string> = {
  openRental: 'Locks the wallet, holds the first hour, and buys a machine',
  lookAtRental: 'Reads where the rental stands',
  findPod: 'A create had no known outcome: looks for its machine at the upstream',
  awaitPod: 'Waits until the machine’s SSH daemon answers',
  startMetering: 'The machine answers: billing begins',
  giveUpProvisioning: 'No machine came: frees the hold, charges nothing',
  meterRental: 'Settles exactly and looks at the machine; then waits for what is due next',
  settleRental: 'Billing has ended: makes the final bill and frees what is held',
  endPods: 'Tells the upstream to end the machine until it shows it gone',
  changeRental: 'Meters up to now, then sets the limits that its user asked for',
  closeRental: 'The machine is gone: nothing more is owed',
  runMeter: 'Ticks each second for a quarter of an hour; the heartbeat shows the last tick',
  watchProvider: 'Lists machines and offers for a quarter of an hour; the heartbeat shows the last list',
  runSequencer: 'Numbers the events of the outbox for a quarter of an hour; the heartbeat shows how many',
  wakeWebhooks:
    'Tells webhooks’ workflows of new events for a quarter of an hour; the heartbeat shows how many',
  lookAtWebhook: 'Sends what is due to the webhook, up to a hundred events; the heartbeat shows the last',
  deliverMails: 'Sends what is in the outbox for a quarter of an hour',
  openTopup: 'Charges the saved card, or opens a payment page',
  lookAtTopup: 'Compares the top-up with the processor, and credits it once when it is paid',
  abandonTopup: 'Nothing was opened: ends the top-up, unless a charge has left',
  lookAtAutoTopup: 'Compares the balance with the threshold, and charges when it is below',
  lookAtPayment: 'Credits a payment that belongs to no top-up, or parks it for operators',
  lookAtInvoice: 'Compares the invoice with the processor; reminds, voids or writes off what is due',
  lookAtClosing: 'Ends what the account runs, gives its money back, then erases its person',
  lookAtCard: 'Saves the card, or detaches it at the processor',
  lookAtRefund: 'Follows a refund at the processor into the wallet',
  lookAtDispute: 'Follows a dispute at the processor into the wallet',
  operate: 'Does what an operator asked for, once',
  refundRentals:
    'Gives the rentals of an order what it says, one after the other; the heartbeat shows the last',
  runUpkeep:
    'Does a duty of the upkeep again and again for a quarter of an hour; the heartbeat shows the last round',
  backfillEvents: 'Reads the processor’s own list for events that never arrived',
  beginReconcile: 'Begins a comparison of the books, or goes on with the one that was begun',
  compareSource: 'Compares the books with one source, and keeps what differs as findings',
  noteUncompared: 'Notes that a source could not be compared, and since when',
  finishReconcile: 'Ends the comparison and tells operators what is new',
  examineRestore: 'Compares the restored database with Temporal, the upstreams and the processor',
  endClosedRentals: 'Ends rentals whose run has ended at that run’s end',
  rebuildPayments: 'Credits the payments that the restored database lacks',
  resumeAfterRestore: 'Confirms the database and lifts the brake',
};

/** Adds the activity's summary, unless its caller has set one. */
function withSummary<I extends { activityType: string; options: { summary?: string } }>(input: I): I {
  const summary: string | undefined = (summaries as Record<string, string>)[input.activityType];
  return summary === undefined ? input : { ...input, options: { summary, ...input.options } };
}

/** Replays do not compare the summaries: histories that were recorded without them go on. */
export const interceptors: WorkflowInterceptorsFactory = () => ({
  outbound: [
    {
      scheduleActivity: (input, next) => next(withSummary(input)),
      scheduleLocalActivity: (input, next) => next(withSummary(input)),
    },
  ],
});
