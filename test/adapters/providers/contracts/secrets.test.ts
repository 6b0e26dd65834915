import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import pino from 'pino';
import type { Dialect } from '../../../../adapters/providers/offers/gpu-models.js';
import type { ProviderError } from '../../../../adapters/providers/provider.js';
import { ownSoftwareId } from '../../../../domain/rentals/software.js';
import {
  lambdaRequestOf,
  requestOf,
  runpodRequestOf,
  vastRequestOf,
} from '../../../lab/provider/living-lab.js';
import { ownSoftware } from '../../../support/own-software.js';
import {
  json,
  startScriptedUpstream,
  type Handler,
  type ScriptedUpstream,
} from '../upstream/scripted-upstream.js';

const [variable, code, startScript, password] = [
  ...(['planted-variable', 'planted_code', 'planted-script', 'planted-password'] as const),
];
const planted = [variable, code, startScript, password];
const words = [variable, startScript, password].join(' ');
const software = ownSoftware({
  ...{ env: { variable, code }, startScript },
  registryAuth: { username: 'renter', password },
});

/** What an upstream may do with an order that it does not like. */
const REPEATS: Readonly<Record<string, Handler>> = {
  'in its words': json(400, { error: { message: words }, message: words, detail: words, errors: [words] }),
  'in its code': json(422, { error: code, error_code: code, msg: words }),
  'in a success without a machine': json(200, { message: words, error: code }),
  'in an answer that is no HTTP': (response) => {
    response.socket?.end(`HTTP/1.1 ${words}\r\n\r\n`);
  },
};

/** The steps of an order that tell secrets, and the answers to those before. */
const ORDERS = {
  shadeform: { order: requestOf, steps: ['POST /v1/instances/create'], before: {} },
  runpod: { order: runpodRequestOf, steps: ['POST /v2/registries', 'POST /v2/pods'], before: {} },
  vast: {
    ...{ order: vastRequestOf, steps: ['PUT /api/v0/asks/7000001/'] },
    before: { 'GET /api/v0/ssh/': [] },
  },
  lambda: {
    ...{ order: lambdaRequestOf, steps: ['POST /api/v1/instance-operations/launch'] },
    before: { 'GET /api/v1/ssh-keys': { data: [] }, 'POST /api/v1/ssh-keys': { data: {} } },
  },
};

for (const dialect of Object.keys(ORDERS) as Dialect[]) {
  describe(`a failed order of own software at ${dialect}`, () => {
    const { order, steps, before: answers } = ORDERS[dialect];
    let upstream: ScriptedUpstream;
    beforeEach(async () => {
      upstream = await startScriptedUpstream(dialect);
      for (const [step, body] of Object.entries(answers)) upstream.handlers[step] = json(200, body);
    });
    afterEach(() => upstream.stop());

    for (const step of steps) {
      for (const [where, handler] of Object.entries(REPEATS)) {
        it(`tells nothing that ${step} repeats ${where}`, async () => {
          upstream.handlers['POST /v2/registries'] = json(201, { id: 'r1' });
          upstream.handlers[step] = handler;
          const templateId = upstream.provider.software ? ownSoftwareId : 'pytorch';
          await assert.rejects(upstream.provider.allocate(order({ templateId, software })), (error) => {
            assert.equal((error as ProviderError).name, 'ProviderError');
            const shown = [
              inspect(error, { depth: null, showHidden: true }),
              JSON.stringify(pino.stdSerializers.err(error as Error)),
            ].join('\n');
            for (const secret of planted) assert.ok(!shown.includes(secret), shown);
            return true;
          });
          assert.equal(upstream.asked.at(-1), step);
        });
      }
    }
  });
}
