export { autoTopup, card, closing, dispute, invoice, payment, refund } from './followers.js';
export { backfill } from './backfill.js';
export { mailer, meter, providerWatch, sequencer, upkeep, webhookWaker } from './loops.js';
export { operation } from './operation.js';
export { reconcile } from './reconcile.js';
export { rental } from './rental.js';
export { restore } from './restore.js';
export {
  retired as housekeeping,
  retired as redeliver,
  retired as revive,
  retired as sweep,
} from './retired.js';
export { topup } from './topup.js';
export { watermark } from './watermark.js';
export { webhook } from './webhook.js';
