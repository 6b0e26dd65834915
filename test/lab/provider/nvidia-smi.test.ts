import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { findGpuModel } from '../../../adapters/providers/offers/gpu-models.js';
import { judgeProof, proofFields, proofHeader, type Told } from '../../../domain/machines/proof.js';
import type { GpuFault } from '../../../lab/provider/faults.js';
import { nvidiaSmiScript } from '../../../lab/provider/nvidia-smi.js';
import { getLabGpu, labOffers } from '../../../lab/provider/offers.js';

/** Machines as they are rented: one for each product of the lab, and one for each number of cards. */
const rented = labOffers.map((offer) => {
  const gpu = getLabGpu(offer);
  const known = { name: offer.gpuType, interconnect: offer.interconnect, vramGb: gpu.vramGb };
  const model = findGpuModel('shadeform', known)?.model;
  assert.ok(model !== undefined);
  return { gpu, model, gpuCount: offer.gpuCount };
});

describe('nvidia-smi of the lab’s machines', () => {
  function tell({ gpu, gpuCount }: (typeof rented)[number], fault: GpuFault | null): string {
    const script = nvidiaSmiScript(gpu, gpuCount, 'a-pod', fault);
    const args = [`--query-gpu=${proofFields.join(',')}`, '--format=csv,noheader'];
    try {
      const out = execFileSync('sh', ['-c', script, 'nvidia-smi', ...args], { encoding: 'utf8' });
      return `${proofHeader} 0\n${out}`;
    } catch (error) {
      const { status, stdout } = error as { status: number; stdout: string };
      return `${proofHeader} ${status}\n${stdout}`;
    }
  }

  it('proves each machine that is as rented', () => {
    for (const each of rented) {
      const proof = judgeProof(tell(each, null), each);
      assert.equal(proof.verdict, 'ok', `${each.gpuCount} x ${each.model}: ${JSON.stringify(proof)}`);
    }
  });

  const verdicts: Record<Exclude<GpuFault, 'hangs' | 'ecc' | 'sliced'>, Told> = {
    ...{ wrong_model: 'bad', missing_gpu: 'bad', wedged: 'bad', lost: 'bad', none: 'bad' },
    no_driver: 'not_told',
  };
  for (const [fault, verdict] of Object.entries(verdicts) as [keyof typeof verdicts, Told][]) {
    it(`tells ${fault}, which is ${verdict}`, () => {
      for (const each of rented) {
        assert.equal(
          judgeProof(tell(each, fault), each).verdict,
          verdict,
          `${each.gpuCount} x ${each.model}`,
        );
      }
    });
  }

  it('tells memory errors and slices where its product does', () => {
    for (const each of rented) {
      const { gpu } = each;
      assert.equal(judgeProof(tell(each, 'ecc'), each).verdict, gpu.hasEcc === true ? 'bad' : 'ok');
      assert.equal(judgeProof(tell(each, 'sliced'), each).verdict, gpu.hasMig === true ? 'not_told' : 'ok');
    }
  });
});
