import assert from 'node:assert/strict';
import { streamLimits } from '../../domain/events/stream-limits.js';
import { openStream, type StreamClient } from '../support/http/event-stream.js';
import { until } from '../support/until.js';
import { signIn, topUp, type Backend, type Person } from './backends.js';

interface Page {
  readonly events: { readonly seq: number; readonly type: string; readonly entityId: string }[];
  readonly lastSeq: number;
}

interface Sessions {
  readonly sessions: readonly { readonly id: string }[];
}

/** The feed of events: by pages, and as a stream. */
export function describeEvents(backend: () => Backend): void {
  describe('events', () => {
    let person: Person;
    const opened: StreamClient[] = [];

    beforeEach(async () => {
      person = await signIn(backend());
    });
    afterEach(() => {
      for (const stream of opened.splice(0)) stream.cut();
    });

    async function open(query = '', headers: Record<string, string> = {}): Promise<StreamClient> {
      const stream = await openStream(person, query, headers);
      opened.push(stream);
      return stream;
    }

    async function pageFrom(after: number): Promise<Page> {
      return (await person.get(`/v1/events?after=${after}`)).body as unknown as Page;
    }

    async function addKey(): Promise<string> {
      return (await person.post('/v1/ssh-keys', { name: 'laptop', generate: true })).body.id;
    }

    it('are the same by pages and as a stream, numbered from 1', async () => {
      const stream = await open('?after=0');
      const id = await addKey();
      await person.delete(`/v1/ssh-keys/${id}`);
      await stream.await('ssh_key.removed');
      const { events, lastSeq } = await pageFrom(0);
      const { sessions } = (await person.get('/v1/auth/sessions')).body as unknown as Sessions;
      assert.deepEqual(
        events.map(({ seq, type, entityId }) => [seq, type, entityId]),
        [
          [1, 'session.started', sessions[0]?.id],
          [2, 'ssh_key.added', id],
          [3, 'ssh_key.removed', id],
        ],
      );
      assert.equal(lastSeq, 3);
      assert.deepEqual(
        stream.events().map(({ data }) => data),
        events,
      );
    });

    it('are read back from the newest, with and without a filter', async () => {
      await addKey();
      await addKey();
      const back = async (query: string) => {
        const { events, lastSeq } = (await person.get(`/v1/events?${query}`)).body as unknown as Page;
        return [events.map(({ seq }) => seq), lastSeq];
      };
      await until('all three are numbered', async () => (await pageFrom(0)).lastSeq === 3);
      assert.deepEqual(await back('before=1000&pageSize=2'), [[3, 2], 2]);
      assert.deepEqual(await back('before=2&pageSize=2'), [[1], 1]);
      assert.deepEqual(await back('before=1000&types=session.started'), [[1], 1]);
      assert.deepEqual(await back('before=1'), [[], 1]);
      assert.deepEqual(await back('before=0'), [[], 0]);
      assert.equal((await person.get('/v1/events?before=3&after=1')).status, 400);
    });

    it('go on where a stream was cut, and move on under a filter', async () => {
      const first = await open('?after=0');
      await first.awaitSeq(1);
      first.cut();
      await addKey();
      await addKey();
      const again = await open('?after=0', { 'Last-Event-ID': String(first.lastId) });
      await again.awaitSeq(3);
      assert.deepEqual(again.seqs(), [2, 3]);
      const filtered = await open('?after=0&types=session.started');
      await filtered.awaitSeq(3);
      assert.deepEqual(filtered.seqs(), [1]);
      const beyond = await open('?after=1000');
      assert.deepEqual([beyond.heard[0]?.name, beyond.lastId], ['resync', 3]);
    });

    it('tell of a rental from its opening to its last cent, with its meter', async () => {
      await topUp(backend(), person, 5_000);
      const stream = await open('?after=0');
      await stream.await('balance');
      const { body } = await person.post('/v1/rentals', { familyId: 'b200', gpuCount: 1 });
      await stream.await('rental.running');
      const meter = await stream.await('meter');
      assert.equal(meter.data['rentalId'], body.id);
      await person.post(`/v1/rentals/${body.id}/stop`);
      const stopped = await stream.await('rental.stopped');
      const { chargedCents } = stopped.data['data'] as { chargedCents: number };
      await until('the meter tells the final charge', () => {
        const last = stream.named('meter').at(-1)!.data;
        return last['chargedCents'] === chargedCents && last['status'] !== 'running';
      });
      const ofRental = stream.events().filter(({ data }) => data['entityId'] === body.id);
      assert.deepEqual(
        ofRental.map(({ name }) => name),
        [
          ...['rental.created', 'rental.machine_found', 'rental.ssh_answered', 'rental.running'],
          ...['rental.stopping', 'rental.stopped'],
        ],
      );
    });

    it('warn once of a machine whose end is near, and of a balance that does not last', async () => {
      // The first cents make that less than an hour's.
      await topUp(backend(), person, 3_993);
      const stream = await open('?after=0');
      // An end is near a quarter of an hour before it.
      const asked = { familyId: 'b200', gpuCount: 8, autoStopAfterHours: 0.2501 };
      const { id } = (await person.post('/v1/rentals', asked)).body;
      const warned = await until('the warning is told', async () => {
        await backend().lookForEnds();
        return stream.named('rental.warned')[0];
      });
      const { autoStopAt } = (await person.get(`/v1/rentals/${id}`)).body as unknown as Record<
        string,
        string
      >;
      assert.deepEqual(warned.data['data'], { warning: 'auto_stop_near', at: autoStopAt });
      const { balanceCents, burnPerHourCents } = (await stream.await('wallet.low')).data['data'] as {
        balanceCents: number;
        burnPerHourCents: number;
      };
      assert.deepEqual([balanceCents < 3_992, burnPerHourCents], [true, 3_992]);
      await backend().lookForEnds();
      await person.post(`/v1/rentals/${id}/stop`);
      await stream.await('rental.stopped');
      assert.deepEqual(
        ['rental.warned', 'wallet.low'].map((type) => stream.named(type).length),
        [1, 1],
      );
    });

    it('end with their session, and the oldest stream with the eleventh', async () => {
      const streams: StreamClient[] = [];
      for (let index = 0; index <= streamLimits.ofUser; index += 1) streams.push(await open());
      await streams[0]!.awaitClose();
      assert.deepEqual(streams[0]!.named('closed')[0]?.data, { reason: 'too_many_streams' });
      const sid = person.sid;
      await person.post('/v1/auth/logout');
      await Promise.all(streams.map((stream) => stream.awaitClose()));
      assert.deepEqual(streams.at(-1)!.named('closed')[0]?.data, { reason: 'session_ended' });
      await assert.rejects(openStream({ url: backend().url, sid }), /401/);
    });
  });
}
