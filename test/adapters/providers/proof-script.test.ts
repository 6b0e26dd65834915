import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { judgeProof, type Told } from '../../../domain/machines/proof.js';
import { proofLines } from '../../../adapters/providers/proof-script.js';
import { nvidiaSmiScript } from '../../../lab/provider/nvidia-smi.js';
import { until } from '../../support/until.js';

const run = promisify(execFile);
const TOKEN = 'a'.repeat(43);
const PROGRAMS = ['sh', 'mktemp', 'date', 'sleep', 'head', 'cut', 'cat', 'mv', 'rm', 'tr'];
const shells = ['dash', 'bash'].filter((shell) => isThere(shell));
const gpu = {
  vramGb: 80,
  productName: 'NVIDIA H100 80GB HBM3',
  memoryMib: 81_559,
  hasEcc: true,
  hasMig: true,
};
const rented = { model: 'H100_SXM_80GB', gpuCount: 2 };
const well = nvidiaSmiScript(gpu, 2, 'a-pod');

function isThere(program: string): boolean {
  try {
    execFileSync('which', [program]);
    return true;
  } catch {
    return false;
  }
}

interface Heard {
  readonly authorization: string | undefined;
  readonly body: string;
}

describe('the proof script', () => {
  let dir: string;
  let server: Server;
  let heard: Heard[];
  let url: string;

  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'proof-'));
    mkdirSync(join(dir, 'tmp'));
    heard = [];
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (part: Buffer) => (body += part.toString()));
      request.on('end', () => {
        heard.push({ authorization: request.headers.authorization, body });
        response.writeHead(204).end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/machine/reports`;
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
    rmSync(dir, { recursive: true, force: true });
  });

  /** Runs the script on a machine that has these programs alone, and then its renter's line. @returns the time it took */
  async function tell(
    shell: string,
    nvidiaSmi: string | null,
    { sender = 'curl' }: { readonly sender?: 'curl' | 'wget' | null } = {},
  ): Promise<number> {
    for (const program of [...PROGRAMS, ...(sender === null ? [] : [sender])]) {
      symlinkSync(execFileSync('which', [program], { encoding: 'utf8' }).trim(), join(dir, program));
    }
    if (nvidiaSmi !== null) writeFileSync(join(dir, 'nvidia-smi'), nvidiaSmi, { mode: 0o755 });
    const script = [...proofLines({ url, token: TOKEN }), 'echo "renter $d $x"'].join('\n');
    assert.ok(script.length < 1_536, `${script.length} characters`);
    const file = execFileSync('which', [shell], { encoding: 'utf8' }).trim();
    writeFileSync(join(dir, 'script'), script);
    const began = performance.now();
    const env = { PATH: dir, TMPDIR: join(dir, 'tmp'), NO_PROXY: '*' };
    const { stdout, stderr } = await run(file, [join(dir, 'script')], { env });
    const tookMs = performance.now() - began;
    // It says nothing, and leaves the renter's shell as it was.
    assert.equal(stdout, 'renter  \n');
    assert.equal(stderr, '');
    return tookMs;
  }

  const faults: readonly (readonly [what: string, nvidiaSmi: string | null, verdict: Told])[] = [
    ['two cards as rented', well, 'ok'],
    ...(['wrong_model', 'missing_gpu', 'ecc', 'wedged', 'lost', 'none'] as const).map(
      (fault) => [fault, nvidiaSmiScript(gpu, 2, 'a-pod', fault), 'bad'] as const,
    ),
    ['a lost card on stderr', '#!/bin/sh\necho "GPU is lost." >&2\nexit 15\n', 'bad'],
    ...(['sliced', 'no_driver'] as const).map(
      (fault) => [fault, nvidiaSmiScript(gpu, 2, 'a-pod', fault), 'not_told'] as const,
    ),
    ['no program', null, 'not_told'],
  ];
  for (const shell of shells) {
    for (const [what, nvidiaSmi, verdict] of faults) {
      it(`tells ${what} before anything else runs, under ${shell}`, async () => {
        const tookMs = await tell(shell, nvidiaSmi);
        // It was heard before the renter's line ran.
        assert.equal(heard.length, 1);
        const [report] = heard;
        assert.ok(report);
        assert.equal(report.authorization, `Bearer ${TOKEN}`);
        assert.equal(judgeProof(report.body, rented).verdict, verdict);
        assert.ok(tookMs < 3_000, `${tookMs} ms`);
      });
    }
  }

  it('tells it by wget where there is no curl', async function () {
    if (!isThere('wget')) this.skip();
    await tell('dash', well, { sender: 'wget' });
    assert.equal(judgeProof(heard[0]?.body ?? '', rented).verdict, 'ok');
  });

  it('is what the documentation shows', () => {
    const page = readFileSync(new URL('../../../docs/own-software.md', import.meta.url), 'utf8');
    const shown = proofLines({ url: 'https://machines.example.com/v1/machine/reports', token: '<token>' });
    assert.ok(page.includes(`\n${shown.join('\n')}\n`));
  });

  it('goes on without curl and wget', async () => {
    const tookMs = await tell('dash', well, { sender: null });
    assert.deepEqual(heard, []);
    assert.ok(tookMs < 3_000, `${tookMs} ms`);
  });

  it('waits for nobody who is away, and tells them once they are back', async () => {
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const tookMs = await tell('dash', well);
    assert.ok(tookMs < 3_000, `${tookMs} ms`);
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    await until('the report is heard', () => heard.length === 1);
    assert.equal(judgeProof(heard[0]?.body ?? '', rented).verdict, 'ok');
  });

  it('keeps a report below what is taken, whatever the driver prints', async () => {
    const noise = `#!/bin/sh\ni=0; while [ $i -lt 300 ]; do echo "${'x'.repeat(400)}"; i=$((i + 1)); done\n`;
    await tell('dash', noise);
    const body = heard[0]?.body ?? '';
    assert.ok(body.length > 1_000 && body.length <= 4_096, `${body.length}`);
  });

  it('tells nothing of a driver that hangs for longer than it waits, and no sooner', async () => {
    const tookMs = await tell('dash', nvidiaSmiScript(gpu, 2, 'a-pod', 'hangs'));
    assert.ok(tookMs > 19_000 && tookMs < 24_000, `${tookMs} ms`);
    assert.equal(heard[0]?.body.trim(), 'gpu-proof 1 timeout');
  });
});
