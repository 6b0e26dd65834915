import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Program } from './support/city.js';
import { installedPython } from './support/python.js';

const head = `import asyncio, io, sys
import gpu_rental as gpu
import gpu_rental._async.transport, gpu_rental._sync.transport
# Whatever ends here ends by the caller's own limit.
for transport in (gpu_rental._async.transport, gpu_rental._sync.transport):
    transport.ANSWER_WITHIN = 1e6
options = {"timeout": 1e6}
def told(call, **named):
    try:
        print(call(**named))
    except gpu.GpuRentalError as error:
        print(type(error).__name__, error)
async def waiting(name, *given, **named):
    async with gpu.AsyncClient(**options) as client:
        return await getattr(client, name)(*given, **named)
`;

/** How long calls and waits of the Python client last where a peer never comes to an end. */
export function describeLimits(): void {
  describe('a limit of the Python client', function () {
    this.timeout(300_000);
    let python: string;
    let server: Server;
    let answer: (url: string, response: ServerResponse, number: number) => void;
    const drips = new Set<NodeJS.Timeout>();

    before(async () => {
      python = await installedPython();
    });
    beforeEach(async () => {
      let number = 0;
      server = createServer((request, response) => answer(request.url ?? '', response, ++number));
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
    });
    afterEach(() => {
      for (const drip of drips) clearInterval(drip);
      drips.clear();
      server.closeAllConnections();
      server.close();
    });

    async function play(code: string): Promise<string[]> {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const env = { ...process.env, GPU_API_URL: url, GPU_API_KEY: 'gpur_1' };
      const program = new Program(python, head + code, env);
      const { code: exit } = await program.ended;
      assert.equal(exit, 0, program.err + program.out);
      return program.out.trim().split('\n');
    }

    /** An answer of which a byte comes now and then, for ever. */
    const drip =
      (status: number, headers: Record<string, string> = {}) =>
      (_: string, response: ServerResponse): void => {
        response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
        drips.add(setInterval(() => response.write(' '), 200));
      };
    const never = /^NoAnswerError No answer from http:\S+: /;

    it('ends a call whose answer never comes to its end', async () => {
      const code = `told(lambda: gpu.Client(**options).show_balance(timeout=2))
told(lambda: asyncio.run(waiting("show_balance", timeout=2)))
told(lambda: gpu.Client(**options).stop_rental("rent_1", timeout=2))
`;
      for (const status of [200, 500]) {
        answer = drip(status);
        const lines = await play(code);
        assert.equal(lines.length, 3);
        for (const line of lines) assert.match(line, never);
      }
    });

    it('ends the look-up of what a create has made', async () => {
      answer = (url, response) => {
        if (url === '/v1/rentals/rent_1') return;
        const unknown = { error: 'temporarily_unavailable', message: 'We do not know.', requestId: 'req_1' };
        const details = { outcome: 'unknown', rentalId: 'rent_1', lookAt: '/v1/rentals/rent_1' };
        response.writeHead(503, { 'Content-Type': 'application/json' });
        response.end(JSON.stringify({ ...unknown, details }));
      };
      const lines = await play(`import gpu_rental._async.client, gpu_rental._sync.client
for module in (gpu_rental._async.client, gpu_rental._sync.client):
    module.LOOK_FOR = 1e6
options = {"timeout": 2}
told(lambda: gpu.Client(**options).create_rental({}))
told(lambda: asyncio.run(waiting("create_checkout", {})))
`);
      assert.equal(lines.length, 2);
      for (const line of lines) assert.match(line, /^TemporarilyUnavailableError We do not know/);
    });

    it('ends the end of a machine of which no answer comes to its end', async () => {
      answer = drip(200);
      const [line = ''] = await play(`import os
gpu.machine.END_WITHIN = 2
machine = gpu.Client(**options).rent("rtx-4090")
machine.id, machine._process = "rent_1", os.getpid()
told(machine.stop)
machine.has_ended = True
`);
      assert.match(line, /^StillRunningError rent_1 could not be ended and may still cost money: No answer/);
    });

    it('ends a stream, and a file, whose refusal never comes to its end', async () => {
      answer = drip(503);
      const lines = await play(`import gpu_rental._sync.stream
gpu_rental._sync.transport.ANSWER_WITHIN = gpu_rental._sync.stream.ANSWER_WITHIN = 2
client = gpu.Client(**options)
told(lambda: client.save_ledger(io.BytesIO()))
told(lambda: next(iter(client.stream_events())).error)
`);
      assert.match(lines[0] ?? '', never);
      assert.match(lines[1] ?? '', /^No answer from/);
    });

    it('ends a wait for a machine of which nothing is heard', async () => {
      answer = () => undefined;
      const lines = await play(`told(gpu.Client(**options).wait_until_running, id="rent_1", timeout=2)
told(lambda: asyncio.run(waiting("wait_until_running", "rent_1", timeout=2)))
`);
      assert.equal(lines.length, 2);
      for (const line of lines) assert.match(line, never);
    });

    it('ends a wait for a machine of which nothing more is heard, and tells how it was seen last', async () => {
      answer = (_, response, number) => {
        const rental = { id: 'rent_1', status: 'provisioning', phase: 'starting', failure: null };
        if (number === 1)
          response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(rental));
      };
      const [line] = await play(`try:
    gpu.Client(**options).wait_until_running("rent_1", timeout=3)
except gpu.RentalNotReadyError as error:
    print(error.timed_out, error.rental["phase"])
`);
      assert.equal(line, 'True starting');
    });

    it('lets a wait without any time look once', async () => {
      answer = (_, response) => {
        const rental = { id: 'rent_1', status: 'running', phase: null };
        response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(rental));
      };
      const [line] = await play(
        'print(gpu.Client(**options).wait_until_running("rent_1", timeout=0)["status"])\n',
      );
      assert.equal(line, 'running');
    });
  });
}
