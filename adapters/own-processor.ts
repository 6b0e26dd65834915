import type { Logger } from 'pino';
import { listCustomerIds } from './postgres/payments/payers.js';
import type { Database } from './postgres/database.js';
import { onlyOwnAccount } from './processor/own-account.js';
import type { Processor } from './processor/processor.js';
import { createStripeProcessor, type StripeConfig } from './processor/stripe.js';

/** Makes the port to the processor, which refuses a key of another account than that of the database's customers. */
export function ownProcessor(db: Database, log: Logger, config: StripeConfig): Processor {
  return onlyOwnAccount(createStripeProcessor(config), {
    listCustomers: (limit) => listCustomerIds(db, limit),
    onAnother: (err) => log.error({ err }, err.message),
  });
}
