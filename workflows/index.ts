export { mailer, meter, providerWatch } from './loops.js';
export { rental } from './rental.js';
export { topup } from './topup.js';
export { housekeeping, redeliver, revive, sweep } from './upkeep.js';
