import assert from 'node:assert/strict';
import { findGpuModel } from '../../../../adapters/providers/offers/gpu-models.js';
import { findCountry } from '../../../../adapters/providers/offers/regions.js';
import { getLabGpu, labOffers } from '../../../../lab/provider/offers.js';

describe('from upstream GPU names to models', () => {
  const known: [string, string, number, string, string, number][] = [
    ['RTX4090', 'pcie', 24, 'RTX_4090', 'rtx-4090', 24],
    ['H100', 'sxm5', 80, 'H100_SXM_80GB', 'h100-80gb', 80],
    ['H100', 'SXM5', 80, 'H100_SXM_80GB', 'h100-80gb', 80],
    ['H100', 'pcie', 80, 'H100_PCIE_80GB', 'h100-80gb', 80],
    ['H100', 'nvl', 94, 'H100_NVL_94GB', 'h100-94gb', 94],
    ['A100', 'sxm4', 40, 'A100_SXM_40GB', 'a100-40gb', 40],
    ['A100_80G', 'sxm4', 80, 'A100_SXM_80GB', 'a100-80gb', 80],
    ['B200', 'sxm6', 192, 'B200', 'b200', 180],
  ];
  for (const [gpuType, interconnect, reportedGb, model, family, vramGb] of known) {
    it(`reads ${gpuType} ${interconnect} with ${reportedGb} GB as ${model}`, () => {
      assert.deepEqual(findGpuModel('shadeform', { name: gpuType, interconnect, vramGb: reportedGb }), {
        model,
        family,
        vramGb,
      });
    });
  }

  const unknown: [string, string, number][] = [
    ['H100', 'unknown', 80],
    ['H100', 'constructor', 80],
    ['H100', 'sxm5', 640],
    ['A100_80G', 'pcie', 40],
    ['h100', 'sxm5', 80],
    ['MI325X', 'pcie', 192],
    ['', '', 0],
  ];
  for (const [gpuType, interconnect, vramGb] of unknown) {
    it(`never guesses: ${gpuType} ${interconnect} with ${vramGb} GB is unknown`, () => {
      assert.equal(findGpuModel('shadeform', { name: gpuType, interconnect, vramGb }), undefined);
    });
  }

  it('agrees with the lab on the VRAM of everything that the lab sells', () => {
    for (const offer of labOffers) {
      const { vramGb } = getLabGpu(offer);
      const { gpuType, interconnect } = offer;
      assert.equal(
        findGpuModel('shadeform', { name: gpuType, interconnect, vramGb })?.vramGb,
        vramGb,
        offer.type,
      );
    }
  });
});

describe('from upstream regions to countries', () => {
  const regions: [string, string, string, string | undefined][] = [
    ['cudo', 'melbourne-australia-1', '', 'AU'],
    ['vultr', 'london-uk-1', '', 'GB'],
    ['evergreen', 'casper-usa-1', 'anything', 'US'],
    ['nebius', 'eu-north1', 'eu-north1', 'FI'],
    ['someone', 'eu-north1', 'eu-north1', undefined],
    ['someone', 'MON1', 'CA, Montreal', 'CA'],
    ['someone', 'MON1', 'XX, Nowhere', undefined],
    ['someone', 'MON1', 'Montreal, CA', undefined],
    ['someone', 'city-atlantis-1', 'Atlantis', undefined],
    ['someone', 'x-constructor-1', '', undefined],
    ['runpod', 'US-TX-3', '', 'US'],
    ['runpod', 'US-DE-1', '', 'US'],
    ['runpod', 'CA-MTL-1', '', 'CA'],
    ['runpod', 'EU-RO-1', '', 'RO'],
    ['runpod', 'EUR-IS-1', '', 'IS'],
    ['runpod', 'AP-JP-1', '', 'JP'],
    ['runpod', 'SEA-SG-1', '', 'SG'],
    ['runpod', 'OC-AU-1', '', 'AU'],
    ['runpod', 'EU-XX-1', '', undefined],
    ['runpod', 'EU-RO', '', undefined],
    ['runpod', 'AF-ZA-1', '', undefined],
    ['runpod', 'DE-BER-1', '', undefined],
    ['someone', 'EU-RO-1', '', undefined],
  ];
  for (const [cloud, region, label, country] of regions) {
    it(`finds ${country ?? 'none'} for ${cloud}/${region} (${label})`, () => {
      assert.equal(findCountry(cloud, region, label), country);
    });
  }
});
