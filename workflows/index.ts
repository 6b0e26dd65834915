export { card } from './card.js';
export { dispute } from './dispute.js';
export { mailer, meter, providerWatch } from './loops.js';
export { payment } from './payment.js';
export { refund } from './refund.js';
export { rental } from './rental.js';
export { topup } from './topup.js';
export { backfill, housekeeping, redeliver, revive, sweep } from './upkeep.js';
