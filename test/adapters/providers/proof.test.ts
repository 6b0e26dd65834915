import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  lambdaRequestOf,
  requestOf,
  startLivingLab,
  vastRequestOf,
  type LivingLab,
} from '../../lab/provider/living-lab.js';
import { until } from '../../support/until.js';
import type { AllocationRequest } from '../../../adapters/providers/provider.js';
import { judgeProof } from '../../../domain/machines/proof.js';

const TOKEN = 'f'.repeat(64);
/** A key that fills most of what Vast takes. */
const LONG_KEY = `ssh-rsa ${'A'.repeat(3_500)}`;

describe('a machine that tells how its GPUs are', () => {
  let lab: LivingLab;
  let server: Server;
  let url: string;
  const heard: string[] = [];
  before(async () => {
    lab = await startLivingLab();
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (part: Buffer) => (body += part.toString()));
      request.on('end', () => {
        heard.push(request.headers.authorization === `Bearer ${TOKEN}` ? body : 'another token');
        response.writeHead(204).end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/machine/reports`;
  });
  afterEach(async () => {
    heard.length = 0;
    await lab.clearFaults();
  });
  after(async () => {
    server.closeAllConnections();
    server.close();
    await lab.stop();
  });

  const machines: [
    dialect: 'shadeform' | 'lambda' | 'vast',
    request: (change: Partial<AllocationRequest>) => AllocationRequest,
    model: string,
  ][] = [
    ['shadeform', requestOf, 'RTX_4090'],
    ['lambda', lambdaRequestOf, 'H100_SXM_80GB'],
    ['vast', vastRequestOf, 'RTX_4090'],
  ];
  for (const [dialect, request, model] of machines) {
    it(`does so at ${dialect}, well or bad`, async () => {
      const provider = lab.of(dialect);
      for (const verdict of ['ok', 'bad'] as const) {
        if (verdict === 'bad') await lab.faults({ badGpu: { times: 1, kind: 'wrong_model' } });
        await untilBought(() => provider.allocate(request({ report: { url, token: TOKEN } })));
        const body = await until('it has told', () => heard.shift());
        assert.equal(judgeProof(body, { model, gpuCount: 1 }).verdict, verdict, body);
      }
    });
  }

  /** Lambda and Vast sell one machine at a time. */
  async function untilBought(buy: () => Promise<unknown>): Promise<void> {
    await until('it is bought', () =>
      buy().then(
        () => true,
        () => undefined,
      ),
    );
  }

  it('is told what Vast’s list knows of it', async () => {
    const asked = vastRequestOf();
    await untilBought(() => lab.vast.allocate(asked));
    const pod = await lab.vast.find(asked.tag);
    assert.deepEqual(pod?.hardware, { machine: '5000', model: 'RTX_4090', gpuCount: 1 });
  });

  it('is bought without, where there is no room for it', async () => {
    const asked = vastRequestOf({ publicKeys: [LONG_KEY], report: { url, token: TOKEN } });
    await untilBought(() => lab.vast.allocate(asked));
    const { pods } = await lab.state();
    const script = Buffer.from(pods.find(({ name }) => name === asked.tag)?.base64Script ?? '', 'base64');
    assert.ok(script.includes(LONG_KEY));
    assert.ok(!script.includes(TOKEN));
  });
});
