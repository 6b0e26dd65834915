import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { exitCodes } from '../../../clients/cli/src/exit-codes.js';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import { Person } from './support/person.js';

/** Files that may be larger than the memory. */
describe('gpu ledger --csv and gpu proof', () => {
  let mock: MockServer;
  let ann: Person;
  before(async () => {
    mock = await startMock({ port: 0, durations: { provisionMs: 20, endMs: 20 } });
  });
  after(() => mock.stop());
  beforeEach(async () => {
    ann = await Person.at(mock);
  });

  const answers =
    (body: ReadableStream<Uint8Array>): typeof fetch =>
    (input, init) => {
      const { pathname } = new URL(new Request(input, init).url);
      const isFile = ['/v1/billing/ledger.csv', '/v1/billing/proof'].includes(pathname);
      return isFile ? Promise.resolve(new Response(body)) : fetch(input, init);
    };
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

  for (const args of [
    ['ledger', '--csv'],
    ['proof', '2026-10'],
  ]) {
    it(`${args.join(' ')} is written as it comes`, async () => {
      let out = '';
      let isWritten = (): void => undefined;
      const firstIsWritten = new Promise<void>((resolve) => {
        isWritten = resolve;
      });
      const stdout = new Writable({
        write(piece: Buffer, _encoding, done) {
          out += piece.toString();
          isWritten();
          done();
        },
      });
      const pieces = ['first\n', 'second\n'];
      const body = new ReadableStream<Uint8Array>(
        {
          async pull(controller) {
            // The second piece comes only once the first one was written.
            if (pieces.length === 1) await firstIsWritten;
            const piece = pieces.shift();
            if (piece === undefined) controller.close();
            else controller.enqueue(bytes(piece));
          },
        },
        { highWaterMark: 0 },
      );
      const { code, err } = await ann.run(args, { fetch: answers(body), stdout });
      assert.equal(code, 0, err);
      assert.equal(out, 'first\nsecond\n');
    });

    it(`${args.join(' ')} that ends early says so, and fails`, async () => {
      const pieces = ['first\n'];
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          const piece = pieces.shift();
          if (piece === undefined) controller.error(new TypeError('terminated'));
          else controller.enqueue(bytes(piece));
        },
      });
      const { code, err } = await ann.run(args, { fetch: answers(body) });
      assert.equal(code, exitCodes.network, err);
      assert.match(err, /ended early: what came of it is not whole/);
    });
  }

  it('steers no terminal, wherever the pieces are cut', async () => {
    const pieces = [bytes('a,\u001b'), bytes('[31mb\n'), bytes('é').slice(0, 1), bytes('é').slice(1)];
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const piece = pieces.shift();
        if (piece === undefined) controller.close();
        else controller.enqueue(piece);
      },
    });
    const { code, out } = await ann.run(['ledger', '--csv'], { fetch: answers(body), columns: 80 });
    assert.equal(code, 0);
    assert.ok(!out.includes('\u001b'), JSON.stringify(out));
    assert.match(out, /é$/);
  });
});
