import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import { ApiClient } from '../../support/http/api.js';
import { filesIn } from '../../support/http/archive.js';
import { ScriptedApi, dies, refusal } from '../typescript/support/scripted-api.js';
import { Program } from './support/city.js';
import { installedPython } from './support/python.js';

export function describeLongFiles(): void {
  describe('long files in Python', function () {
    this.timeout(600_000);
    let mock: MockServer;
    let folder: string;
    before(async () => {
      mock = await startMock({ port: 0 });
      folder = mkdtempSync(join(tmpdir(), 'gpu-rental-python-'));
    });
    after(async () => {
      await mock.stop();
      rmSync(folder, { recursive: true });
    });

    it('are a ledger and a proof, too, with what is asked of them', async () => {
      const person = new ApiClient(mock.url);
      await person.post('/v1/auth/verify-code', { email: 'ada@example.com', code: '123456' });
      const { body } = await person.post('/v1/billing/checkout', { amountCents: 500 });
      await fetch(body.checkoutUrl, { redirect: 'manual' });
      const code = `
import asyncio, io, gpu_rental as gpu
options = {"base_url": "${mock.url}", "session": {"sid": "${person.sid}"}}
client = gpu.Client(**options)
for span in ({}, {"from_": "2020-01-01T00:00:00Z", "to": "2020-02-01T00:00:00Z"}):
    file = io.BytesIO()
    count = client.save_ledger(file, **span)
    print(count == len(file.getvalue()), file.getvalue().decode() == client.download_ledger(**span), file.getvalue().count(b"\\n") > 1)

async def waiting():
    async with gpu.AsyncClient(**options) as client:
        return await client.save_proof(io.BytesIO(), month="2020-01")

try:
    asyncio.run(waiting())
except gpu.ApiError as error:
    print(error.code)
`;
      const program = new Program(await installedPython(), code, {});
      const { code: exit } = await program.ended;
      assert.equal(exit, 0, program.err);
      assert.deepEqual(program.out.trim().split('\n'), [
        'True True True',
        'True True False',
        'proof_not_ready',
      ]);
    });

    it('are an export, which is written as it comes, though the file takes little at a time, and refused by its class', async () => {
      const person = new ApiClient(mock.url);
      await person.post('/v1/auth/verify-code', { email: 'ann@example.com', code: '123456' });
      const file = join(folder, 'account.zip');
      const code = `
import asyncio, io, gpu_rental as gpu
options = {"base_url": "${mock.url}", "session": {"sid": "${person.sid}"}}
class Short(io.RawIOBase):
    def __init__(self, file):
        self.file = file

    def writable(self):
        return True

    def write(self, piece):
        return self.file.write(piece[:1000])

with open("${file}", "wb", buffering=0) as file:
    print(gpu.Client(**options).save_export(Short(file)))

async def waiting():
    async with gpu.AsyncClient(**options) as client:
        return await client.save_export(io.BytesIO())

print(asyncio.run(waiting()) > 1000)
try:
    gpu.Client(base_url="${mock.url}", session={"sid": "none"}).save_export(io.BytesIO())
except gpu.ApiError as error:
    print(error.code)
`;
      const program = new Program(await installedPython(), code, {});
      const { code: exit } = await program.ended;
      assert.equal(exit, 0, program.err);
      const bytes = readFileSync(file);
      assert.deepEqual(program.out.trim().split('\n'), [String(bytes.length), 'True', 'unauthorized']);
      assert.ok(filesIn(new Uint8Array(bytes).buffer)['account.json']?.includes('ann@example.com'));
    });

    it('are asked for again until they begin, as their routes allow, and never after', async () => {
      const api = await ScriptedApi.start();
      const notDone = refusal(503, 'temporarily_unavailable', { outcome: 'not_done' });
      const tooMany = refusal(429, 'rate_limited', undefined, { 'Retry-After': '0' });
      const whole = { status: 200, headers: { 'Content-Type': 'text/csv' }, body: 'a,b\n' };
      const breaksOff = (response: ServerResponse): void => {
        response.writeHead(200, { 'Content-Type': 'text/csv', 'Content-Length': '9' });
        response.write('a,b\n', () => response.destroy());
      };
      const code = (call: string): string => `
import asyncio, io, gpu_rental as gpu
options = {"base_url": "${api.url}", "api_key": "gpur_1", "first_pause": 0.001}
file = io.BytesIO()
async def waiting():
    async with gpu.AsyncClient(**options) as client:
        return await client.${call}
for save in (lambda: asyncio.run(waiting()), lambda: gpu.Client(**options).${call}):
    try:
        print(save(), file.getvalue())
    except gpu.GpuRentalError as error:
        print(type(error).__name__, file.getvalue())
    file = io.BytesIO()
`;
      try {
        for (const [call, replies, told] of [
          ['save_ledger(file)', [notDone, tooMany, dies, whole], "4 b'a,b\\n'"],
          ['save_proof(file, month="2026-10")', [refusal(500, 'internal_error'), whole], "4 b'a,b\\n'"],
          ['save_ledger(file)', [breaksOff], "NoAnswerError b'a,b\\n'"],
          ['save_export(file)', [notDone, whole], "4 b'a,b\\n'"],
          ['save_export(file)', [refusal(500, 'internal_error')], "InternalError b''"],
        ] as const) {
          api.script(...replies, ...replies);
          const program = new Program(await installedPython(), code(call), {});
          await program.ended;
          assert.deepEqual(program.out.trim().split('\n'), [told, told], program.err);
          assert.deepEqual([api.left, api.arrived.length], [0, 2 * replies.length]);
        }
      } finally {
        await api.stop();
      }
    });
  });
}
