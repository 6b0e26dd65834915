import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import { ApiClient } from '../../support/http/api.js';
import { filesIn } from '../../support/http/archive.js';
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
  });
}
