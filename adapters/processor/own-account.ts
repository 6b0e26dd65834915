import { MINUTE } from '../../domain/durations.js';
import { anotherAccount, ProcessorError, type Processor } from './processor.js';

/** So many of our customers are asked about: some may stem from the days when the service was tried out. */
const witnesses = 5;

export interface OwnAccountOptions {
  /** Lists some of the customers that the database knows; none while nobody has paid. */
  readonly listCustomers: (limit: number) => Promise<readonly string[]>;
  /** Told once for each time that the key was found to be of another account. */
  readonly onAnother: (error: ProcessorError) => void;
  /** How long a key of another account is refused before our customers are asked about again; default: a minute. */
  readonly refusedMs?: number;
}

/**
 * Lets calls through only to the account that has our customers (decision 192, "The processor’s account"). Another
 * account, or the same one in another mode, takes each call as well, and knows none of our customers, cards and
 * payments: what it says of them must not be believed. A key that was found to be ours stays so.
 * @returns a processor whose calls throw ProcessorError `refused` with `anotherAccount` in its details
 */
export function onlyOwnAccount(processor: Processor, options: OwnAccountOptions): Processor {
  if (!processor.enabled) return processor;
  const check = checkingUntilOurs(processor, options);
  const guarded = Object.entries(processor).map(([name, part]: [string, unknown]) => {
    if (typeof part !== 'function') return [name, part];
    const call = part as (...args: unknown[]) => Promise<unknown>;
    return [
      name,
      async (...args: unknown[]) => {
        await check();
        return call(...args);
      },
    ];
  });
  return Object.fromEntries(guarded) as Processor;
}

/** Each call checks for itself until one has found the key to be ours: a check that hangs holds up nobody else. */
function checkingUntilOurs(processor: Processor, options: OwnAccountOptions): () => Promise<void> {
  const { listCustomers, onAnother, refusedMs = MINUTE } = options;
  let isOurs = false;
  let refusal: ProcessorError | undefined;
  return async () => {
    if (isOurs) return;
    if (refusal) throw refusal;
    const customers = await listCustomers(witnesses);
    for (const id of customers) {
      if (!(await processor.knowsCustomer(id))) continue;
      isOurs = true;
      return;
    }
    if (customers.length === 0) return;
    refusal = new ProcessorError('refused', wordsOf(customers), { code: anotherAccount });
    onAnother(refusal);
    setTimeout(() => (refusal = undefined), refusedMs).unref();
    throw refusal;
  };
}

function wordsOf(customers: readonly string[]): string {
  return (
    `STRIPE_SECRET_KEY is of another account, or of another mode, than the one that has our customers: it knows none of ` +
    `${customers.join(', ')}. Nothing is asked of it. Set the key of that account (docs/operations/stripe.md).`
  );
}
