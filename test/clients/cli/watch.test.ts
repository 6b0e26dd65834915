import assert from 'node:assert/strict';
import type { Event, StreamItem } from '@gpu-rental/client';
import { widthOf } from '../../../clients/cli/src/output/text.js';
import { LiveState } from '../../../clients/cli/src/watch/live-state.js';
import { viewOf } from '../../../clients/cli/src/watch/view.js';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import { until } from '../../support/until.js';
import { Person } from './support/person.js';
import { gpuLine, keys, Terminal } from './support/terminal.js';

const at = (seconds: number): string =>
  new Date(Date.UTC(2026, 10, 21, 9, 30, 0) + seconds * 1_000).toISOString();
const ms = (seconds: number): number => Date.parse(at(seconds));
const id = 'rent_01KADV6E5TR5X9K0S4V1B2N3M4';
const other = 'rent_01KADV6E5TR5X9K0S4V1B2N3M5';

const balance = (seconds: number, totalCents: number): StreamItem => ({
  kind: 'balance',
  balance: {
    availableCents: 0,
    reservedCents: 0,
    totalCents,
    burnPerHourCents: 3_600,
    ledgerSeq: 1,
    readAt: at(seconds),
  },
});
const meter = (seconds: number, more: object = {}): StreamItem => ({
  kind: 'meter',
  meter: {
    ...{ rentalId: id, status: 'running', pricePerHourCents: 3_600, chargedCents: 10, holdCents: 0 },
    ...{ runningAt: at(0), endedAt: null, readAt: at(seconds) },
    ...more,
  },
});

describe('gpu watch', () => {
  describe('between two messages', () => {
    it('lets the cost grow and the wallet shrink by the clock, as the meter does', () => {
      const state = new LiveState();
      state.take(meter(10), ms(10));
      state.take(balance(10, 1_000), ms(10));
      const now = state.seen(ms(15));
      assert.equal(now.rows[0]!.costCents, 15);
      assert.equal(now.walletCents, 995);
      assert.equal(now.burnPerHourCents, 3_600);
      assert.equal(Math.round(now.lastsSeconds ?? 0), 995);
      assert.equal(now.rows[0]!.ranSeconds, 15);
    });

    it('goes by the service’s clock, whatever this machine’s says', () => {
      const state = new LiveState();
      state.take(meter(10), ms(1_000));
      state.take(balance(10, 1_000), ms(1_000));
      assert.equal(state.seen(ms(1_005)).rows[0]!.costCents, 15);
    });

    it('ends a machine that ended while the stream was away, by its event or by what is read anew', () => {
      const state = new LiveState();
      const away: StreamItem = { kind: 'reconnecting', delayMs: 1, error: undefined };
      const stopped = {
        ...{ type: 'rental.stopped', seq: 2, entityId: id, createdAt: at(40) },
        data: { reason: 'auto_stop', stoppedAt: at(40), chargedCents: 40, refundedCents: 5 },
      } as Event;
      state.take(meter(10), ms(10));
      state.take(away, ms(11));
      state.take(balance(60, 960), ms(60));
      assert.equal(state.seen(ms(60)).rows[0]!.isRunning, true);
      state.take({ kind: 'event', event: stopped }, ms(60));
      const { rows, burnPerHourCents, walletCents } = state.seen(ms(90));
      assert.deepEqual([rows[0]!.state, rows[0]!.costCents, rows[0]!.ranSeconds], ['stopped', 35, 40]);
      assert.deepEqual([burnPerHourCents, walletCents], [0, 960]);
      state.take(meter(100, { rentalId: other }), ms(100));
      state.take({ kind: 'resync' }, ms(100));
      assert.deepEqual(state.seen(ms(100)).rows, []);
    });

    it('never shows less than was charged, nor a wallet below nothing', () => {
      const state = new LiveState();
      state.take(meter(10, { chargedCents: 12 }), ms(10));
      state.take(balance(10, 3), ms(10));
      assert.equal(state.seen(ms(10)).rows[0]!.costCents, 12);
      assert.equal(state.seen(ms(600)).walletCents, 0);
    });

    it('stands still for a machine that has ended', () => {
      const state = new LiveState();
      state.take(meter(10, { status: 'stopped', chargedCents: 9, endedAt: at(9) }), ms(10));
      state.take(balance(10, 991), ms(10));
      const later = state.seen(ms(100));
      assert.deepEqual([later.rows[0]!.costCents, later.rows[0]!.ranSeconds, later.walletCents], [9, 9, 991]);
      assert.equal(later.lastsSeconds, undefined);
    });

    it('fits the terminal, from 40 columns on', () => {
      const state = new LiveState();
      for (const item of [
        meter(10),
        meter(10, { rentalId: other, pricePerHourCents: 2_392_00 }),
        balance(10, 1_234_567),
      ]) {
        state.take(item, ms(10));
      }
      const news = ['09:30:07  2N3M4X is ready, and billing starts, as it should be'];
      for (const width of [40, 60, 80, 120]) {
        const lines = viewOf(state.seen(ms(4_000)), news, { width, height: 40 }, (_colour, text) => text);
        assert.deepEqual(
          lines.filter((line) => widthOf(line) > width - 1),
          [],
          String(width),
        );
        assert.match(lines[0]!, /^Wallet \$/);
      }
    });
  });

  describe('at a terminal', () => {
    let mock: MockServer;
    let ann: Person;
    const terminals: Terminal[] = [];

    before(async () => {
      mock = await startMock({ port: 0, durations: { provisionMs: 50, endMs: 20 } });
      ann = await Person.at(mock);
      await ann.pay(100);
      await ann.rent('h100-80gb --gpus 8 --name training');
    });
    afterEach(() => terminals.splice(0).forEach((terminal) => terminal.kill()));
    after(() => mock.stop());

    async function watching(columns: number, line = 'watch'): Promise<Terminal> {
      const env = { HOME: ann.home, GPU_API_URL: mock.url, GPU_API_KEY: ann.apiKey ?? '' };
      const terminal = new Terminal(`${await gpuLine()} ${line}`, { env, columns });
      terminals.push(terminal);
      return terminal;
    }

    for (const [name, key] of [
      ['q', 'q'],
      ['ctrl-C', keys.ctrlC],
    ] as const) {
      it(`draws in its place, second by second, and ends by ${name}`, async () => {
        const terminal = await watching(40);
        await terminal.sees('Live. Press q to quit');
        const cost = Number((await terminal.sees(/running .*\$(\d+\.\d\d)/))![1]);
        await until(
          'the cost has grown',
          () => Number(/running .*\$(\d+\.\d\d)/.exec(terminal.shown)![1]) > cost + 0.01,
        );
        assert.equal(terminal.shown.match(/Wallet/g)!.length, 1, terminal.shown);
        terminal.press(key);
        assert.equal(await terminal.ended(), 0, terminal.shown);
        // The cursor is there again.
        assert.ok(terminal.written.lastIndexOf('\u001b[?25h') > terminal.written.lastIndexOf('\u001b[?25l'));
      });
    }

    it('tells what happens meanwhile', async () => {
      const terminal = await watching(80);
      await terminal.sees('Live.');
      const rented = await ann.rent('rtx-4090');
      await terminal.sees(`${rented.slice(-6)} is ready, and billing starts`);
      await ann.type(`stop ${rented}`);
      await terminal.sees(`${rented.slice(-6)} was stopped`);
      terminal.press('q');
      assert.equal(await terminal.ended(), 0);
    });

    it('survives a cut connection, and says so meanwhile', async () => {
      const cuts: AbortController[] = [];
      let away = false;
      const ctrlC = new AbortController();
      // The answer's body is cut: a request's signal may have been collected together with the request.
      const cutting: typeof fetch = async (input, init) => {
        const request = new Request(input, init);
        if (!request.url.includes('/events/stream')) return fetch(request);
        if (away) throw new TypeError('fetch failed');
        const answer = await fetch(request);
        const cut = new AbortController();
        cuts.push(cut);
        return new Response(answer.body?.pipeThrough(new TransformStream(), { signal: cut.signal }), answer);
      };
      const seen = { all: '' };
      const ran = ann.type('watch', {
        signal: ctrlC.signal,
        fetch: cutting,
        onOutput: (all) => (seen.all = all),
      });
      await until('the first balance', () => seen.all.includes('an hour'));
      away = true;
      cuts[0]!.abort(new TypeError('terminated'));
      await until('it says so', () => seen.all.includes('no connection: trying again'));
      away = false;
      await until('it is connected again', () => cuts.length === 2);
      const id = await ann.rent('rtx-4090');
      await until('what happened afterwards is told', () => seen.all.includes(`${id.slice(-6)} is ready`));
      ctrlC.abort(new Error('ctrl-C'));
      assert.equal((await ran).code, 0);
      await ann.type(`stop ${id}`);
    });

    it('writes a JSON object on each line for programs', async () => {
      const ctrlC = new AbortController();
      const seen = { all: '' };
      const ran = ann.type('watch --json', { signal: ctrlC.signal, onOutput: (all) => (seen.all = all) });
      await until('a meter', () => seen.all.includes('"meter"'));
      ctrlC.abort(new Error('ctrl-C'));
      const { code, out } = await ran;
      assert.equal(code, 0);
      const kinds = out
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { kind: string }).kind);
      assert.equal(kinds[0], 'connected');
      assert.ok(kinds.includes('balance') && kinds.includes('meter'), kinds.join());
    });
  });
});
