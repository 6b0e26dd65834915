import { describeAccounts } from './accounts.js';
import { startMockBackend, startRealBackend, type Backend } from './backends.js';
import { describeApiKeys } from './api-keys.js';
import { describeEvents } from './events.js';
import { describeListing } from './listing.js';
import { describeMoney } from './money.js';
import { describeQuotes } from './quotes.js';
import { assertSameWords, describeRefusals } from './refusals.js';
import { describeRenting } from './renting.js';
import { describeChanging } from './changing.js';
import { describeSpending } from './spending.js';

const backends = { 'the mock': startMockBackend, 'the service': startRealBackend };

/**
 * The same scenarios run against the mock and the service, so that they can't drift. Their client also checks every
 * answer against the API's description (test/support/http/described.ts).
 */
describe('the contract', () => {
  for (const [name, start] of Object.entries(backends)) {
    describe(`of ${name}`, () => {
      let backend: Backend;
      before(async () => {
        backend = await start();
      });
      after(() => backend.stop());

      describeAccounts(() => backend);
      describeApiKeys(() => backend);
      describeRefusals(() => backend);
      describeMoney(() => backend);
      describeRenting(() => backend);
      describeEvents(() => backend);
      describeQuotes(() => backend);
      describeChanging(() => backend);
      describeListing(() => backend);
      describeSpending(() => backend);
    });
  }

  // A suite of its own, because mocha runs it after those above.
  describe('of both', () => {
    it('has the same words for each refusal', () => assertSameWords(Object.keys(backends).length));
  });
});
