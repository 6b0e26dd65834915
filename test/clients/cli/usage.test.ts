import assert from 'node:assert/strict';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import { Person } from './support/person.js';

describe('gpu usage', () => {
  let mock: MockServer;
  let ann: Person;
  let rentalId: string;
  before(async () => {
    mock = await startMock({ port: 0, durations: { provisionMs: 50, tickMs: 200, endMs: 20 } });
    ann = await Person.at(mock);
    await ann.pay(20);
    rentalId = await ann.rent('rtx-4090 --name box');
  });
  after(() => mock.stop());

  it('says that nothing was told, as long as nothing was', async () => {
    const { code, out } = await ann.run(['usage', 'box']);
    assert.deepEqual([code, out], [0, `mock reported no usage of ${rentalId.slice(-6)} in that time.\n`]);
  });

  it('shows how busy it was, in lines of the time that is asked for', async () => {
    const [rental] = [...mock.world.accounts.all()].flatMap(({ rentals }) => rentals);
    Object.assign(rental!.row, { running_at: new Date(Date.now() - 3 * 3_600_000) });
    const { code, out } = await ann.run(['usage', 'box', '--last', '1h']);
    assert.equal(code, 0);
    const lines = out.split('\n');
    assert.match(lines[0] ?? '', /^FROM +GPUS +BUSIEST +GPU MEMORY +CPU +MEMORY$/);
    assert.equal(lines.filter((line) => /^20\d\d-\d\d-\d\d \d\d:\d\d +\d+% /.test(line)).length, 20, out);
    assert.ok(out.includes('Each line is 3 min. A dash means no data from mock.'), out);
    const told = await ann.json<{ points: unknown[] }>('usage --last 30m');
    assert.ok(told.points.length <= 21);
  });

  it('names the machine where a script on it tells that, in the quote as well', async () => {
    const asked: unknown[] = [];
    const reporting: typeof fetch = async (input, init) => {
      const request = new Request(input, init);
      if (request.method === 'POST')
        asked.push(((await request.clone().json()) as { telemetry?: boolean }).telemetry);
      const answer = await fetch(request);
      const text = (await answer.text()).replaceAll(
        /("(?:telemetrySource|source)":)"upstream"/g,
        '$1"reporter"',
      );
      return new Response(text, answer);
    };
    const quoted = await ann.run(['quote', 'rtx-4090', '--telemetry'], { fetch: reporting });
    assert.match(quoted.out, /Usage +reported by our script on the machine/);
    assert.deepEqual(asked, [true]);
    const { out } = await ann.run(['usage', 'box', '--last', '1h'], { fetch: reporting });
    assert.ok(out.includes('A dash means no data from the machine.'), out);
    const plain = await ann.run(['quote', 'rtx-4090']);
    assert.doesNotMatch(plain.out, /Usage from/);
  });
});
