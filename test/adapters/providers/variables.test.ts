import assert from 'node:assert/strict';
import { misfitsOf, noSoftware, outlineOf, ownSoftwareId } from '../../../domain/rentals/software.js';
import { lambdaRequestOf, requestOf, runpodRequestOf, vastRequestOf } from '../../lab/provider/living-lab.js';
import { json, startScriptedUpstream, type ScriptedUpstream } from './upstream/scripted-upstream.js';

const DIALECTS = {
  shadeform: { create: 'POST /v1/instances/create', requestOf },
  runpod: { create: 'POST /v2/pods', requestOf: runpodRequestOf },
  vast: { create: 'PUT /api/v0/asks/7000001/', requestOf: vastRequestOf },
  lambda: { create: 'POST /api/v1/instance-operations/launch', requestOf: lambdaRequestOf },
};

for (const [dialect, { create, requestOf: orderOf }] of Object.entries(DIALECTS)) {
  describe(`a renter’s variables at ${dialect}`, () => {
    let upstream: ScriptedUpstream;
    before(async () => {
      upstream = await startScriptedUpstream(dialect as keyof typeof DIALECTS);
      upstream.handlers[create] = json(200, { id: 'i1', new_contract: 1, data: { instance_ids: ['i1'] } });
      upstream.handlers['GET /api/v1/ssh-keys'] = json(200, {
        data: [{ name: 'test-machines', public_key: 'ssh-ed25519 AAAA' }],
      });
    });
    after(() => upstream.stop());

    /** All that is in the order, with the script that Shadeform takes encoded. */
    async function ordered(request: ReturnType<typeof orderOf>): Promise<string> {
      await upstream.provider.allocate(request);
      const body = upstream.sent.findLast(({ path }) => path === create)?.body;
      const { launch_configuration: launch } = body as {
        launch_configuration?: { script_configuration: { base64_script: string } };
      };
      const script = launch?.script_configuration.base64_script ?? '';
      return JSON.stringify(body) + Buffer.from(script, 'base64').toString();
    }

    it('are in the order, or are refused before it', async () => {
      const { provider } = upstream;
      for (const templateId of provider.templates) {
        const image = templateId === ownSoftwareId ? 'x' : null;
        for (const startScript of image === null ? [null, 'true'] : [null]) {
          const software = { ...noSoftware, image, env: { PLANTED: 'b' }, startScript };
          const misfits = misfitsOf(outlineOf(software, null), provider.software, templateId);
          const isRefused = misfits.some(({ field }) => field === 'env');
          const isThere = (await ordered(orderOf({ templateId, software }))).includes('PLANTED');
          assert.equal(isThere, !isRefused, `${templateId}, ${startScript}`);
        }
      }
    });
  });
}
