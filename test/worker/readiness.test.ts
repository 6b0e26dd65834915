import assert from 'node:assert/strict';
import { startFront, type Front } from '../../tools/prod-like/front.js';
import { findFreePorts } from '../../lab/stack/ports.js';
import type { Poll, Poller } from '../../adapters/temporal/pollers.js';
import { createReadiness, polls } from '../../worker/readiness.js';
import { startService, type TestService } from '../support/service/living-service.js';
import { until } from '../support/until.js';
import { startWorkerProcess, type WorkerProcess } from '../support/service/worker-process.js';

const running = { getState: () => 'RUNNING' };

describe('a worker’s readiness', () => {
  const clock = { ms: 0 };
  let heardAt: string;
  let listPollers: (poll: Poll) => Promise<readonly Poller[]>;

  beforeEach(() => {
    clock.ms = 0;
    heardAt = '1';
    listPollers = () =>
      Promise.resolve([
        { identity: 'another', lastAskedAt: String(clock.ms) },
        { identity: 'me', lastAskedAt: heardAt },
      ]);
  });

  const readiness = () =>
    createReadiness({ identity: 'me', listPollers: (poll) => listPollers(poll), now: () => clock.ms });

  it('is not there before its workers run, nor while one of them stops', async () => {
    const asked = readiness();
    assert.match((await asked.findFaults()).join(), /not started/);
    asked.begin([running, { getState: () => 'DRAINING' }]);
    assert.match((await asked.findFaults()).join(), /DRAINING/);
  });

  it('asks for each queue and each kind of task', async () => {
    const seen: string[] = [];
    listPollers = ({ queue, kind }) => {
      seen.push(`${queue} ${kind}`);
      return Promise.resolve([{ identity: 'me', lastAskedAt: '1' }]);
    };
    const asked = readiness();
    asked.begin([running]);
    assert.deepEqual(await asked.findFaults(), []);
    assert.deepEqual(seen, [
      ...['rentals workflow', 'rentals activity', 'upstream activity', 'meter activity', 'mail activity'],
      'webhooks activity',
    ]);
  });

  it('goes by what the server hears: others’ polls do not count, and a silence of more than 90 s ends it', async () => {
    const asked = readiness();
    asked.begin([running]);
    assert.deepEqual(await asked.findFaults(), []);
    clock.ms = 90_000;
    assert.deepEqual(await asked.findFaults(), [], 'a poll without a task lasts a minute');
    clock.ms = 91_000;
    const silent = await asked.findFaults();
    assert.equal(silent.length, polls.length);
    assert.match(silent[0] ?? '', /queue rentals, workflow tasks: .* nothing for 91 s/);
    heardAt = '2';
    assert.deepEqual(await asked.findFaults(), [], 'it is heard again');
    listPollers = () => Promise.resolve([{ identity: 'another', lastAskedAt: '1' }]);
    assert.match((await asked.findFaults()).join(), /has not heard from this process/);
  });

  it('names what Temporal answers instead of pollers', async () => {
    listPollers = () => Promise.reject(new Error('the namespace is gone'));
    const asked = readiness();
    asked.begin([running]);
    assert.deepEqual(await asked.findFaults(), ['Temporal can not be asked: the namespace is gone']);
  });
});

/** The product's own process, whose line to Temporal can be cut. */
describe('GET /readyz of a worker', () => {
  let service: TestService;
  let worker: WorkerProcess;
  let line: Front | undefined;
  let linePort = 0;

  const connectLine = async (): Promise<void> => {
    line = await startFront(linePort, [Number(service.namespace.address.split(':')[1])]);
  };
  const cutLine = async (): Promise<void> => {
    await line?.close();
    line = undefined;
  };
  const ask = async (path = '/readyz'): Promise<{ status: number; text: string }> => {
    const listening = worker.logged().find(({ msg }) => msg === 'metrics ready');
    const answer = await fetch(`http://127.0.0.1:${String(listening?.['port'])}${path}`);
    return { status: answer.status, text: await answer.text() };
  };

  before(async () => {
    service = await startService({ worker: false });
    [linePort = 0] = await findFreePorts(1);
    await connectLine();
    worker = await startWorkerProcess(service, {
      TEMPORAL_ADDRESS: `127.0.0.1:${linePort}`,
      METRICS_PORT: '0',
    });
  });
  after(async () => {
    try {
      await (worker as WorkerProcess | undefined)?.kill();
      await cutLine();
    } finally {
      await service.stop();
    }
  });

  it('answers 200 once the server hears it poll, 503 when the line to it is cut, and 200 again', async () => {
    await until('the worker is ready', async () => (await ask()).status === 200);
    assert.equal((await ask()).text, 'ready\n');
    await cutLine();
    const { status, text } = await ask();
    assert.equal(status, 503, text);
    assert.match(text, /Temporal can not be asked/);
    assert.equal((await ask('/healthz')).status, 200, 'it lives: nobody need start it again');
    await connectLine();
    await until('the worker is ready again', async () => (await ask()).status === 200);
  });
});
