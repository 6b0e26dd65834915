import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ConnectionError, GpuRental } from '@gpu-rental/client';

/** Files that take longer than the limit of an answer, which is one of silence for them. */
describe('long answers of the typed client', () => {
  const LIMIT_MS = 400;
  const PIECES = ['a,b\n', '1,2\n', '3,4\n', '5,6\n', '7,8\n', 'é,9\n'];
  /** The next answers; the last one stays. */
  let answers: ((response: ServerResponse) => void)[];
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/csv');
    (answers.length > 1 ? answers.shift() : answers[0])?.(response);
  });
  let gpu: GpuRental;

  before(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    gpu = new GpuRental({ baseUrl, answerWithinMs: LIMIT_MS, retries: 1, pauseMs: 1 });
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  /** Writes the pieces one after the other, each well within the limit of silence; then it does something. */
  const slowly = (then: (response: ServerResponse) => void) => (response: ServerResponse) => {
    const left = [...PIECES];
    const next = (): void => {
      const piece = left.shift();
      if (piece === undefined) then(response);
      else response.write(piece, () => setTimeout(next, LIMIT_MS / 4));
    };
    next();
  };
  const whole = slowly((response) => response.end());
  const silent = slowly(() => undefined);
  const cut = slowly((response) => response.destroy());

  const isSilence = (error: unknown): boolean => error instanceof ConnectionError && error.timedOut;
  const isBroken = (error: unknown): boolean => error instanceof ConnectionError && !error.timedOut;
  async function textOf(stream: ReadableStream<Uint8Array>): Promise<string> {
    return new Response(stream).text();
  }

  const reads: Record<string, () => Promise<string>> = {
    'a ledger as one text': () => gpu.wallet.ledgerCsv(),
    'a ledger in pieces': async () => textOf(await gpu.wallet.ledgerCsvStream()),
    'a proof': () => gpu.wallet.proof({ month: '2026-10' }),
    'a proof in pieces': async () => textOf(await gpu.wallet.proofStream({ month: '2026-10' })),
    'a receipt': async () => new TextDecoder().decode(await gpu.topups.receipt('topup_1')),
    'an archive': async () => textOf(await gpu.account.export()),
  };
  for (const [what, read] of Object.entries(reads)) {
    it(`${what} may take longer than the limit, while each piece comes within it`, async () => {
      answers = [whole];
      assert.equal(await read(), PIECES.join(''));
    });

    it(`${what} that falls silent, or breaks off, is none`, async () => {
      answers = [silent];
      await assert.rejects(read(), isSilence);
      answers = [cut];
      await assert.rejects(read(), isBroken);
    });
  }

  it('are asked for again where the text broke off, and end with their caller’s own limit and signal', async () => {
    answers = [cut, whole];
    assert.equal(await gpu.wallet.ledgerCsv(), PIECES.join(''));
    answers = [whole];
    await assert.rejects(gpu.wallet.ledgerCsv({}, { timeoutMs: LIMIT_MS }), isSilence);
    const stop = new AbortController();
    const pieces = (await gpu.wallet.ledgerCsvStream({}, { signal: stop.signal })).getReader();
    await pieces.read();
    const enough = new Error('enough');
    stop.abort(enough);
    await assert.rejects(async () => {
      while (!(await pieces.read()).done);
    }, enough);
  });
});
