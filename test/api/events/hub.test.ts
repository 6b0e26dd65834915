import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { EventPage, ReadEvent } from '../../../adapters/postgres/events/event-reads.js';
import { newId } from '../../../adapters/ids.js';
import { EventHub } from '../../../api/events/hub.js';
import { EventStream } from '../../../api/events/stream.js';
import { streamLimits } from '../../../domain/events/stream-limits.js';
import { until } from '../../support/until.js';

const userId = newId('usr');

/** A response that keeps what is written to it. */
class Written extends EventEmitter {
  text = '';
  writableNeedDrain = false;
  writableLength = 0;
  readonly socket = null;
  write(text: string): void {
    this.text += text;
  }
  destroy(): void {
    this.emit('close');
  }
  ids(): number[] {
    return [...this.text.matchAll(/^id: (\d+)\nevent: ssh_key/gm)].map(([, id]) => Number(id));
  }
}

/** Takes the races of a stream's beginning apart: the pages come when the test says so. */
describe('the hub of streams', () => {
  let table: ReadEvent[];
  let reads: { readonly resolve: () => void }[];
  let hub: EventHub;
  let failures: unknown[];
  let failsNext = false;

  beforeEach(() => {
    [table, reads, failures, failsNext] = [[], [], [], false];
    hub = new EventHub(
      (_user, after, limit) => {
        if (failsNext) {
          failsNext = false;
          return Promise.reject(new Error('away'));
        }
        // What the page sees is decided now, and told later.
        const page = pageOf(after, limit);
        return new Promise((resolve) => reads.push({ resolve: () => resolve(page) }));
      },
      { end: () => undefined, failure: (error) => failures.push(error) },
    );
  });

  function pageOf(after: number, limit: number): EventPage {
    const events = table.filter(({ seq }) => seq > after).slice(0, limit);
    return {
      firstSeq: 1,
      lastSeq: table.length,
      events,
      lookedAtSeq: events.length === limit ? events.at(-1)!.seq : table.length,
    };
  }

  function happens(): ReadEvent {
    const seq = table.length + 1;
    const event: ReadEvent = {
      ...{ no: seq, id: newId('evt'), user_id: userId, seq, type: 'ssh_key.added', entity_id: 'key_1' },
      ...{ data: {}, at: new Date(), api_key_id: null },
    };
    table.push(event);
    return event;
  }

  function join(): { stream: EventStream; written: Written } {
    const written = new Written();
    const request = {
      id: 'a',
      userId,
      holder: { kind: 'session', tokenHash: Buffer.alloc(32) } as const,
      types: undefined,
    };
    const stream = new EventStream(request, written as unknown as ServerResponse, (min) => min);
    hub.join(stream);
    return { stream, written };
  }

  it('reads again what was told while a page was read', async () => {
    const { stream, written } = join();
    stream.begin(0, { firstSeq: 1, lastSeq: 0 });
    const caught = hub.catchUp(stream);
    await until('a page is asked for', () => reads.length === 1);
    hub.tell([happens()]);
    reads[0]!.resolve();
    await until('the next page is asked for', () => reads.length === 2);
    assert.equal(stream.isLive, false);
    reads[1]!.resolve();
    await caught;
    hub.tell([happens()]);
    assert.deepEqual(written.ids(), [1, 2]);
  });

  it('goes back to the pages for a number that is missing, and tells none twice', async () => {
    const { stream, written } = join();
    stream.begin(0, { firstSeq: 1, lastSeq: 0 });
    await hub.catchUp(stream, pageOf(0, 10));
    const [first, , third] = [happens(), happens(), happens()];
    hub.tell([first, first]);
    hub.tell([third]);
    await until('a page is asked for', () => reads.length === 1);
    hub.tell([happens()]);
    reads[0]!.resolve();
    await until('the next page is asked for', () => reads.length === 2);
    reads[1]!.resolve();
    await until('it is live again', () => stream.isLive);
    hub.tell([third, happens()]);
    assert.deepEqual(written.ids(), [1, 2, 3, 4, 5]);
  });

  it('asks again for a page that could not be read', async () => {
    const { stream, written } = join();
    stream.begin(0, { firstSeq: 1, lastSeq: 0 });
    happens();
    failsNext = true;
    const caught = hub.catchUp(stream);
    await until('it is asked for again', () => reads.length === 1);
    reads[0]!.resolve();
    await caught;
    assert.deepEqual([written.ids(), failures.length], [[1], 1]);
  });

  it('says nothing before the first message, with which the headers leave', () => {
    const { stream, written } = join();
    for (let second = 0; second < 15; second += 1) hub.comment();
    hub.tell([happens()]);
    hub.tellStates({ readAt: new Date(), balances: [], meters: [] });
    stream.close('server_stopping');
    assert.equal(written.text, '');
  });

  it('sends each stream a comment every 15 s, not all in one moment', () => {
    const all = Array.from({ length: 30 }, () => join());
    for (const { stream } of all) stream.begin(0, { firstSeq: 1, lastSeq: 0 });
    const comments = () =>
      all.map(({ written }) => written.text.split('\n\n').filter((each) => each === ':').length);
    const perSecond: number[] = [];
    for (let second = 0; second < streamLimits.commentEveryMs / 1_000; second += 1) {
      const before = comments().reduce((sum, each) => sum + each, 0);
      hub.comment();
      perSecond.push(comments().reduce((sum, each) => sum + each, 0) - before);
    }
    assert.deepEqual(new Set(comments()), new Set([1]));
    assert.deepEqual(new Set(perSecond), new Set([2]));
  });
});
