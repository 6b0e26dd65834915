import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { fileURLToPath } from 'node:url';
import { argsToTest } from '../../support/programs.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Each process at a server that answers as PostgreSQL 16 does. */
describe('PostgreSQL 16', function () {
  this.timeout(120_000);
  let server: Server;
  const asked: string[] = [];
  before(async () => (server = await startOldServer(asked)));
  after(() => server.close());
  beforeEach(() => asked.splice(0));

  for (const [program, ...args] of [
    ['migrations/run.ts'],
    ['api/index.ts'],
    ['worker/index.ts'],
    ['ops/index.ts', 'brakes'],
  ] as const) {
    it(`is refused in words by ${program}, before any statement but for its version`, async () => {
      const { code, out } = await run([...(await argsOf(program)), ...args]);
      assert.ok(code !== null && code > 0, `${code}: ${out}`);
      assert.match(out, /PostgreSQL 17 or newer is needed/);
      assert.match(out, /docs\/operations\/deploying\.md#postgresql/);
      assert.deepEqual(
        asked.filter((sql) => !sql.includes('version')),
        [],
      );
    });
  }

  /** Migrations are none of the programs that are built for tests. */
  const argsOf = (program: string) =>
    program.startsWith('migrations/') ? ['--import', 'tsx', program] : argsToTest(program);

  async function run(args: readonly string[]): Promise<{ code: number | null; out: string }> {
    const { port } = server.address() as AddressInfo;
    const env = {
      PATH: process.env['PATH'],
      DATABASE_URL: `postgres://gpu_rental:secret@127.0.0.1:${port}/gpu_rental`,
      TEMPORAL_ADDRESS: '127.0.0.1:1',
      DASHBOARD_URL: 'http://127.0.0.1:1',
      SMTP_URL: 'smtp://127.0.0.1:1',
      API_PORT: '0',
    };
    const child = spawn(process.execPath, [...args], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const timer = setTimeout(() => child.kill('SIGKILL'), 60_000);
    let out = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (out += text));
    }
    const [code] = (await once(child, 'close')) as [number | null];
    clearTimeout(timer);
    return { code, out };
  }
});

/** Speaks as much of the protocol as a connection takes: no password, and one row for each simple statement. */
async function startOldServer(asked: string[]): Promise<Server> {
  const server = createServer((socket) => {
    let isBegun = false;
    socket.on('error', () => undefined);
    socket.on('data', (data: Buffer) => {
      if (!isBegun) {
        isBegun = true;
        const knows = !data.toString('latin1').includes('transaction_timeout=');
        if (knows) socket.write(Buffer.concat([message('R', int32(0)), ready]));
        else socket.end(unknownSetting);
        return;
      }
      if (data[0] !== 0x51) return;
      const sql = data.toString('latin1', 5, data.length - 1);
      asked.push(sql);
      socket.write(oneRow(sql.includes('version_num') ? '160009' : 'PostgreSQL 16.9 on x86_64'));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};
const message = (type: string, ...body: Buffer[]): Buffer => {
  const all = Buffer.concat(body);
  return Buffer.concat([Buffer.from(type), int32(all.length + 4), all]);
};
const text = (value: string): Buffer => Buffer.from(`${value}\0`);
const ready = message('Z', Buffer.from('I'));
const unknownSetting = message(
  'E',
  text('SFATAL'),
  text('C42704'),
  text('Munrecognized configuration parameter "transaction_timeout"'),
  Buffer.from([0]),
);

function oneRow(value: string): Buffer {
  const column = Buffer.concat([
    text('version'),
    int32(0),
    Buffer.from([0, 0]),
    int32(25),
    Buffer.from([255, 255]),
  ]);
  const described = message('T', Buffer.from([0, 1]), column, int32(-1), Buffer.from([0, 0]));
  const bytes = Buffer.from(value);
  return Buffer.concat([
    described,
    message('D', Buffer.from([0, 1]), int32(bytes.length), bytes),
    message('C', text('SELECT 1')),
    ready,
  ]);
}
