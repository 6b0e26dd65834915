import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Program } from './support/city.js';
import { installedPython } from './support/python.js';

const head = 'import asyncio\nimport gpu_rental as gpu\n';
const renting = (wish: string, options = ''): string =>
  `${head}with gpu.Client(${options}).rent("rtx-4090"${wish}): pass\n`;
const waiting = (wish: string): string => `${head}
async def main():
    async with gpu.AsyncClient().rent("rtx-4090"${wish}): pass
asyncio.run(main())
`;

/** Python programs that rent nothing, since nothing was sent. */
export function describeUnsent(): void {
  describe('a request to rent that Python never sends', function () {
    this.timeout(300_000);
    let python: string;
    let server: Server;
    let url: string;
    before(async () => {
      python = await installedPython();
    });
    beforeEach(async () => {
      server = createServer((_, response) => response.writeHead(500).end());
      server.on('connect', (_, socket) => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'));
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    });
    afterEach(() => {
      server.closeAllConnections();
      server.close();
    });

    const closed = `${head}client = gpu.Client()
client.close()
with client.rent("rtx-4090"): pass
`;
    const closedWaiting = `${head}
async def main():
    client = gpu.AsyncClient()
    await client.aclose()
    async with client.rent("rtx-4090"): pass
asyncio.run(main())
`;
    for (const [what, code, error] of [
      ['hours that are no number', renting(', hours=float("nan")'), /^ValueError: Out of range float/m],
      ['hours that are no number, in a task', waiting(', hours=float("nan")'), /^ValueError: Out of range/m],
      ['labels that JSON has no form for', renting(', labels={1}'), /^TypeError: Object of type set/m],
      ['a closed client', closed, /^RuntimeError: The client is closed/m],
      ['a closed client, in a task', closedWaiting, /^RuntimeError: The client is closed/m],
      [
        'a header that HTTP has no form for',
        renting('', 'first_pause=0.001, user_agent="a\\nb"'),
        /^gpu_rental\S+NoAnswerError: /m,
      ],
    ] as const) {
      it(`leaves nobody in doubt: ${what}`, async () => {
        const env = { ...process.env, GPU_API_URL: url, GPU_API_KEY: 'gpur_1' };
        const program = new Program(python, code, env);
        assert.equal((await program.ended).code, 1);
        assert.match(program.err, error);
        assert.doesNotMatch(program.err, /Nobody knows/);
      });
    }

    it('leaves nobody in doubt: a proxy that lets nobody through', async () => {
      const asked = { GPU_API_URL: 'https://api.example.com', GPU_API_KEY: 'gpur_1', HTTPS_PROXY: url };
      const program = new Program(python, renting('', 'first_pause=0.001'), { ...process.env, ...asked });
      assert.equal((await program.ended).code, 1, program.err);
      assert.match(program.err, /NoAnswerError: No answer from https:\S+: 403 Forbidden/);
      assert.doesNotMatch(program.err, /Nobody knows/);
    });
  });
}
