import { describeAccounts } from './accounts.js';
import { describeApiKeys } from './api-keys.js';
import { describeClosing } from './closing.js';
import { describeRefusals } from './refusals.js';
import { describeFreshness } from './fresh.js';
import { describeMoney } from './money.js';
import { describeRenting } from './renting.js';
import { describeEvents } from './events.js';
import { describeQuotes } from './quotes.js';
import { describeChanging } from './changing.js';
import { describeListing } from './listing.js';
import { describeSoftware } from './software.js';
import { describeSpending } from './spending.js';
import { describeWebhooks } from './webhooks.js';
import type { Backend } from './backends.js';

/** Describes every scenario of the contract, whoever asks them. @param backend the one that runs by then */
export function describeContract(backend: () => Backend): void {
  describeAccounts(backend);
  describeClosing(backend);
  describeWebhooks(backend);
  describeApiKeys(backend);
  describeRefusals(backend);
  describeMoney(backend);
  describeRenting(backend);
  describeEvents(backend);
  describeQuotes(backend);
  describeChanging(backend);
  describeListing(backend);
  describeFreshness(backend);
  describeSpending(backend);
  describeSoftware(backend);
}
