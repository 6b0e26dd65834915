import { startMockBackend, startRealBackend, type Backend } from './backends.js';
import { describeContract } from './scenarios.js';
import { assertAllCalled } from './through-client.js';
import { assertSameWords } from './refusals.js';

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

      describeContract(() => backend);
    });
  }

  // A suite of its own, because mocha runs it after those above.
  describe('of both', () => {
    it('asks every operation of the description', assertAllCalled);

    it('has the same words for each refusal', () => assertSameWords(Object.keys(backends).length));
  });
});
