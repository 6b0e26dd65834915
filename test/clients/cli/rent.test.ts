import assert from 'node:assert/strict';
import { exitCodes } from '../../../clients/cli/src/exit-codes.js';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import { until } from '../../support/until.js';
import type { Ran } from './support/gpu.js';
import { Person } from './support/person.js';

describe('gpu rent, left by ctrl-C', () => {
  let mock: MockServer;
  let ann: Person;

  before(async () => {
    // The machines come up when the tests say so, or never.
    mock = await startMock({ port: 0, durations: { provisionMs: 600_000, endMs: 20 } });
    ann = await Person.at(mock);
    await ann.pay(100);
  });
  afterEach(() => ann.type('stop --all --yes'));
  after(() => mock.stop());

  /** Rents, and presses ctrl-C when a request is sent. @param answer whether that request is answered before */
  async function leaveAt(which: RegExp, answered: boolean): Promise<Ran> {
    const ctrlC = new AbortController();
    const watching: typeof fetch = async (input, init) => {
      const request = new Request(input, init);
      const isIt = which.test(`${request.method} ${new URL(request.url).pathname}`);
      if (isIt && !answered) ctrlC.abort(new Error('ctrl-C'));
      const response = await fetch(request);
      if (isIt && answered) ctrlC.abort(new Error('ctrl-C'));
      return response;
    };
    return ann.type('rent rtx-4090 --yes', { signal: ctrlC.signal, fetch: watching });
  }

  const rented = async (): Promise<{ id: string; status: string }[]> =>
    // One of the test before may still be going away.
    (await ann.json<{ rentals: { id: string; status: string }[] }>('ls')).rentals.filter(
      ({ status }) => status !== 'stopping',
    );

  for (const answered of [false, true]) {
    it(`rents nothing while it asks for the price (${answered ? 'after' : 'before'} the answer), and says so`, async () => {
      const { code, out, err } = await leaveAt(/^POST \/v1\/quotes$/, answered);
      assert.equal(code, exitCodes.givenUp);
      assert.equal(out, '');
      assert.match(err, /Nothing was rented\.|Cancelled\./);
      assert.deepEqual(await rented(), []);
    });

    it(`waits for the answer of the request that rents (${answered ? 'after' : 'before'} it), and says what exists`, async () => {
      const { code, out, err } = await leaveAt(/^POST \/v1\/rentals$/, answered);
      assert.equal(code, exitCodes.committed);
      assert.equal(out, '');
      const [rental] = await rented();
      assert.ok(rental);
      const short = rental.id.slice(-6);
      const text = err.replace(/\s+/g, ' ');
      if (!answered) assert.match(text, /The request has been sent\. Waiting for its answer\./);
      assert.ok(text.includes(`You have rented ${short}, and it keeps starting without you`), err);
      assert.ok(text.includes(`Stop it with: gpu stop ${short}`), err);
    });
  }

  it('says in which phase the machine is, what it will cost, and how to end it', async () => {
    const ctrlC = new AbortController();
    const ran = ann.type('rent rtx-4090 --yes --name left', {
      signal: ctrlC.signal,
      onOutput: (all) => {
        if (/Getting the machine|Starting the machine|Waiting for its turn/.test(all))
          ctrlC.abort(new Error('ctrl-C'));
      },
    });
    const { code, err } = await ran;
    assert.equal(code, exitCodes.committed);
    const text = err.replace(/\s+/g, ' ');
    assert.match(
      text,
      /You have rented (\w{6}), and it keeps starting without you \([a-z ]+\)\. It costs nothing until it is ready, then \$0\.40 an hour\. Stop it with: gpu stop \1\. Or continue: gpu watch, gpu ssh \1/,
    );
    assert.deepEqual(
      (await rented()).map(({ status }) => status),
      ['provisioning'],
    );
  });

  it('says the same in JSON, with what to program against', async () => {
    const ctrlC = new AbortController();
    const ran = ann.type('rent rtx-4090 --yes --json', { signal: ctrlC.signal });
    await until('it is rented', async () => (await rented()).length > 0);
    ctrlC.abort(new Error('ctrl-C'));
    const { code, err } = await ran;
    assert.equal(code, exitCodes.committed);
    const told = JSON.parse(err) as Record<string, unknown>;
    assert.equal(told['error'], 'committed');
    assert.equal(told['exitCode'], exitCodes.committed);
    const [rental] = await rented();
    assert.deepEqual(told['details'], { rentalId: rental?.id, cause: 'givenUp' });
  });

  it('says that the service did not tell whether it rented, and where to look', async () => {
    const silent: typeof fetch = async (input, init) => {
      const request = new Request(input, init);
      if (request.method !== 'POST' || !request.url.endsWith('/rentals')) return fetch(request);
      throw Object.assign(new TypeError('fetch failed'), {
        cause: Object.assign(new Error('cut'), { code: 'ECONNRESET' }),
      });
    };
    const { code, err } = await ann.type('rent rtx-4090 --yes', { fetch: silent });
    assert.equal(code, exitCodes.committed);
    assert.match(err, /did not confirm whether it rented the machine\.\nCheck with: gpu ls\./);
  });
});
