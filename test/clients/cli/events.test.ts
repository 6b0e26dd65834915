import assert from 'node:assert/strict';
import type { AuditEvent, Event } from '@gpu-rental/client';
import { exitCodes } from '../../../clients/cli/src/exit-codes.js';
import { widthOf } from '../../../clients/cli/src/output/text.js';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import { until } from '../../support/until.js';
import { GpuUser, type Ran } from './support/gpu.js';
import { Person } from './support/person.js';

interface Events {
  readonly events: readonly Event[];
  readonly hasMore?: boolean;
}

describe('gpu events and gpu audit', () => {
  let mock: MockServer;
  let ann: Person;
  let first: string;
  let second: string;

  before(async () => {
    mock = await startMock({ port: 0, durations: { provisionMs: 20, endMs: 20 } });
    ann = await Person.at(mock);
    await ann.pay(50);
    first = await ann.rent('rtx-4090 --name training');
    second = await ann.rent();
    await ann.type(`stop ${first}`);
    await until('it has ended', async () => (await typesAbout(first)).includes('rental.stopped'));
  });
  after(() => mock.stop());

  const typesAbout = async (machine: string): Promise<string[]> =>
    (await ann.json<Events>(`events ${machine}`)).events.map(({ type }) => type);

  /** Runs a line until somebody has read enough of it. */
  async function following(
    line: string,
    isEnough: (all: string) => boolean,
    act?: () => unknown,
  ): Promise<Ran> {
    const ctrlC = new AbortController();
    const seen = { all: '' };
    const ran = ann.type(line, { signal: ctrlC.signal, onOutput: (all) => (seen.all = all) });
    try {
      if (act) await until('it follows', () => seen.all.includes('Following.'));
      await act?.();
      await until('it told enough', () => isEnough(seen.all));
    } finally {
      ctrlC.abort(new Error('ctrl-C'));
    }
    return ran;
  }

  describe('events', () => {
    it('lists what happened, newest first, with why and how much', async () => {
      const { events } = await ann.json<Events>('events');
      const numbers = events.map(({ seq }) => seq);
      assert.deepEqual(
        numbers,
        numbers.toSorted((a, b) => b - a),
      );
      const { code, out } = await ann.type('events');
      assert.equal(code, 0);
      assert.match(out, /^NUMBER +WHEN +EVENT +ABOUT +DETAIL\n/);
      const short = first.slice(-6);
      assert.match(
        out,
        new RegExp(String.raw`\n +\d+ +\S+ \S+ +rental\.stopped +${short} +user, \$0\.0\d\n`),
      );
      assert.match(out, /\n +\d+ +\S+ \S+ +topup\.succeeded +top_\w{26} +\$50\.00\n/);
    });

    it('lists those of one machine alone', async () => {
      assert.deepEqual(await typesAbout('training'), [
        ...['rental.stopped', 'rental.stopping', 'rental.running', 'rental.ssh_answered'],
        ...['rental.machine_found', 'rental.created'],
      ]);
      const { events } = await ann.json<Events>(`events ${second}`);
      assert.ok(events.length > 0 && events.every(({ entityId }) => entityId === second));
      assert.equal((await ann.type('events nobody')).code, exitCodes.notFound);
    });

    it('cuts the list, and says so; starts after a number, and leaves types out', async () => {
      const { events, hasMore } = await ann.json<Events>('events --limit 2');
      assert.deepEqual([events.length, hasMore], [2, true]);
      assert.match(
        (await ann.type('events --limit 2')).out,
        /\n\nThe first 2 shown\. To see more: --limit 4\n$/,
      );
      assert.equal((await ann.json<Events>('events training --limit 2')).hasMore, true);
      const [, older] = events;
      const after = await ann.json<Events>(`events --after ${older?.seq}`);
      assert.deepEqual(after, { events: events.slice(0, 1) });
      const some = await ann.json<Events>('events --types topup.succeeded,rental.created');
      assert.deepEqual(
        new Set(some.events.map(({ type }) => type)),
        new Set(['topup.succeeded', 'rental.created']),
      );
      assert.equal((await ann.type('events --after 999')).out, 'No events yet.\n');
    });

    it('follows what happens, of one machine or of all, until ctrl-C', async () => {
      const third = await ann.rent('rtx-4090 --name third');
      const own = await following(
        'events third --follow',
        (all) => all.includes('rental.stopped'),
        async () => {
          await ann.type('rename training old');
          await ann.type('stop third');
        },
      );
      assert.equal(own.code, 0, own.err);
      const lines = own.out.trim().split('\n');
      assert.ok(
        lines.every((line) => line.includes(third.slice(-6))),
        own.out,
      );
      assert.match(lines.at(-1) ?? '', /^\d\d:\d\d:\d\d {2}rental\.stopped +\w{6} {2}user, \$0\.0\d$/);
      const all = await following('events --follow --after 0 --types rental.stopped --json', (text) =>
        text.includes(third),
      );
      const told = all.out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Event);
      assert.deepEqual(
        told.map(({ type, entityId }) => [type, entityId]),
        [
          ['rental.stopped', first],
          ['rental.stopped', third],
        ],
      );
    });

    it('refuses what contradicts itself, and types that are none', async () => {
      for (const line of ['events --follow --limit 5', 'events --after -1', 'events --types none']) {
        const { code, out } = await ann.type(line);
        assert.deepEqual([code, out], [exitCodes.usage, ''], line);
      }
    });
  });

  describe('audit', () => {
    it('lists who did what, by which key and from where', async () => {
      const { code, out } = await ann.type('audit');
      assert.equal(code, 0);
      assert.match(out, /^WHEN +WHAT +ABOUT +BY +FROM\n/);
      assert.match(
        out,
        new RegExp(String.raw`\n\S+ \S+ +rental created +${first.slice(-6)} +key \w{6} +\S*127\.0\.0\.1\n`),
      );
      assert.match(out, /\n\S+ \S+ +api key created +key_\w{26} +you +\S*127\.0\.0\.1\n/);
      const { events } = await ann.json<{ events: AuditEvent[] }>('audit --kind api_key_created');
      assert.deepEqual(new Set(events.map(({ kind }) => kind)), new Set(['api_key_created']));
    });

    it('is cut, and says so; tells wrong codes', async () => {
      assert.match(
        (await ann.type('audit --limit 2')).out,
        /\n\nThe first 2 shown\. To see more: --limit 4\n$/,
      );
      const cut = await ann.json<Record<string, unknown>>('audit --limit 2');
      assert.deepEqual(
        [(cut['events'] as object[]).length, cut['hasMore'], cut['failedSignIns']],
        [2, true, []],
      );
      const tried: typeof fetch = async (input, init) => {
        const response = await fetch(input, init);
        const hours = [{ hour: '2026-11-01T08:00:00.000Z', tries: 3 }];
        return Response.json({ ...((await response.json()) as object), failedSignIns: hours });
      };
      const { out } = await ann.type('audit', { fetch: tried });
      assert.match(out, /\n\n3 wrong codes in the hour from 2026-\d\d-\d\d \d\d:\d0\.\n$/);
    });

    it('refuses a kind that is none, and asks for a code where a key has a cap', async () => {
      assert.equal((await ann.type('audit --kind none')).code, exitCodes.usage);
      const asked = { name: 'capped', scopes: ['read'], spendCapCents: 500 };
      const { key } = (await ann.elsewhere.post('/v1/api-keys', asked)).body as unknown as { key: string };
      const piped = await new GpuUser(mock.url, key).type('audit');
      assert.equal(piped.code, exitCodes.refused);
      assert.match(piped.err, /Run it in a terminal: it asks for a code that we email you\./);
      const typed = await ann.withCode('audit', { env: { GPU_API_KEY: key } });
      assert.equal(typed.code, 0, typed.err);
      assert.match(typed.out, /rental created/);
    });
  });

  it('both fit a terminal of 40 columns, and tell a key what it lacks', async () => {
    const asked = { name: 'spender', scopes: ['billing'] };
    const { key } = (await ann.elsewhere.post('/v1/api-keys', asked)).body as unknown as { key: string };
    for (const line of ['events', 'audit']) {
      for (const columns of [40, 80]) {
        const { out } = await ann.type(line, { columns });
        assert.deepEqual(
          out.split('\n').filter((each) => widthOf(each) > columns),
          [],
          line,
        );
      }
      const { code, err } = await new GpuUser(mock.url, key).type(line);
      assert.equal(code, exitCodes.refused);
      assert.match(err, /^This needs an API key with the scope read\./);
    }
  });
});
