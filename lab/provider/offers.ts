/**
 * The lab's offers: real offers of real clouds, snapshots of public price lists (skypilot-org/skypilot-catalog,
 * catalogs/v7; a price with a fraction of a cent is rounded up). They are not live prices.
 */
export interface LabOffer {
  readonly cloud: string;
  /** Spelled as Shadeform does: unique within the cloud. */
  readonly type: string;
  readonly gpuType: string;
  readonly gpuCount: number;
  readonly interconnect: string;
  /** For the whole machine, per hour. */
  readonly priceCents: number;
  readonly region: string;
  readonly label: string;
}

type Row = readonly [
  cloud: string,
  type: string,
  gpuType: string,
  gpuCount: number,
  interconnect: string,
  priceCents: number,
  region: string,
  label: string,
];

const ROWS: readonly Row[] = [
  ['runpod', 'RTX4090', 'RTX4090', 1, 'pcie', 69, 'EU-RO-1', 'RO, Romania'],
  ['runpod', 'RTX4090x8', 'RTX4090', 8, 'pcie', 552, 'US-TX-3', 'US, Texas'],
  ['vast', 'RTX4090', 'RTX4090', 1, 'pcie', 40, 'texas-usa-1', 'US, Texas'],
  ['excesssupply', 'RTX4090x2', 'RTX4090', 2, 'pcie', 120, 'oslo-norway-3', 'NO, Oslo'],
  ['excesssupply', 'RTX5090', 'RTX5090', 1, 'pcie', 80, 'oslo-norway-3', 'NO, Oslo'],
  ['vast', 'RTX5090', 'RTX5090', 1, 'pcie', 53, 'taipei-taiwan-1', 'TW, Taiwan'],
  ['evergreen', 'RTX5090x8', 'RTX5090', 8, 'pcie', 560, 'casper-usa-1', 'US, Casper, WY'],
  ['runpod', 'RTX6000Ada', 'RTX6000Ada', 1, 'pcie', 77, 'CA-MTL-1', 'CA, Montreal'],
  ['datacrunch', 'RTX6000Ada', 'RTX6000Ada', 1, 'pcie', 107, 'helsinki-finland-1', 'FI, Helsinki'],
  ['massedcompute', 'RTX6000Adax4', 'RTX6000Ada', 4, 'pcie', 308, 'desmoines-usa-1', 'US, Des Moines, IA'],
  ['cudo', 'L40S', 'L40S', 1, 'pcie', 148, 'melbourne-australia-1', 'AU, Melbourne'],
  ['nebius', 'L40S', 'L40S', 1, 'pcie', 155, 'eu-north1', 'FI, Mäntsälä'],
  ['scaleway', 'L40Sx4', 'L40S', 4, 'pcie', 623, 'paris-france-1', 'FR, Paris'],
  ['crusoe', 'L40Sx8', 'L40S', 8, 'pcie', 1160, 'culpeper-usa-1', 'US, Culpeper, VA'],
  ['runpod', 'A100_80G', 'A100_80G', 1, 'pcie', 164, 'US-KS-2', 'US, Kansas'],
  ['runpod', 'A100_sxm4_80Gx8', 'A100_80G', 8, 'sxm4', 1512, 'EU-NL-1', 'NL, Netherlands'],
  ['hyperstack', 'A100_80Gx2', 'A100_80G', 2, 'pcie', 270, 'montreal-canada-2', 'CA, Montreal'],
  ['vultr', 'A100_80G', 'A100_80G', 1, 'pcie', 260, 'tokyo-japan-2', 'JP, Tokyo'],
  ['lambda', 'H100_sxm5', 'H100', 1, 'sxm5', 329, 'us-south-1', 'US, Texas'],
  ['lambda', 'H100_sxm5x8', 'H100', 8, 'sxm5', 2392, 'us-south-2', 'US, North Texas'],
  ['nebius', 'H100_sxm5', 'H100', 1, 'sxm5', 295, 'eu-north1', 'FI, Mäntsälä'],
  ['vast', 'H100_sxm5x2', 'H100', 2, 'sxm5', 360, 'paris-france-1', 'FR, France'],
  ['hyperstack', 'H100', 'H100', 1, 'pcie', 190, 'montreal-canada-2', 'CA, Montreal'],
  ['datacrunch', 'H200', 'H200', 1, 'sxm5', 337, 'helsinki-finland-2', 'FI, Helsinki'],
  ['nebius', 'H200_sxm5x8', 'H200', 8, 'sxm5', 2800, 'eu-west1', 'FR, Paris'],
  ['datacrunch', 'B200', 'B200', 1, 'sxm6', 490, 'helsinki-finland-5', 'FI, Helsinki'],
  ['lambda', 'B200_sxm6x8', 'B200', 8, 'sxm6', 3992, 'dulles-usa-1', 'US, Dulles, VA'],
  ['runpod', 'B200', 'B200', 1, 'sxm6', 799, 'US-CA-2', 'US, California'],
];

export const labOffers: readonly LabOffer[] = ROWS.map(
  ([cloud, type, gpuType, gpuCount, interconnect, priceCents, region, label]) => ({
    cloud,
    type,
    gpuType,
    gpuCount,
    interconnect,
    priceCents,
    region,
    label,
  }),
);

/** A GPU as the hardware reports it. */
export interface LabGpu {
  readonly vramGb: number;
  /** As nvidia-smi prints it. */
  readonly productName: string;
  /** The usable memory as nvidia-smi prints it, in MiB. */
  readonly memoryMib: number;
  /** Whether it counts memory errors, and whether it can be cut into slices; default: neither, and it says `[N/A]`. */
  readonly hasEcc?: boolean;
  readonly hasMig?: boolean;
}

const GPUS = new Map<string, LabGpu>([
  ['RTX4090 pcie', { vramGb: 24, productName: 'NVIDIA GeForce RTX 4090', memoryMib: 24_564 }],
  ['RTX5090 pcie', { vramGb: 32, productName: 'NVIDIA GeForce RTX 5090', memoryMib: 32_607 }],
  ['RTX6000Ada pcie', { vramGb: 48, productName: 'NVIDIA RTX 6000 Ada Generation', memoryMib: 49_140 }],
  ['L40S pcie', { vramGb: 48, productName: 'NVIDIA L40S', memoryMib: 46_068, hasEcc: true }],
  [
    'A100_80G pcie',
    { vramGb: 80, productName: 'NVIDIA A100 80GB PCIe', memoryMib: 81_920, hasEcc: true, hasMig: true },
  ],
  [
    'A100_80G sxm4',
    { vramGb: 80, productName: 'NVIDIA A100-SXM4-80GB', memoryMib: 81_920, hasEcc: true, hasMig: true },
  ],
  [
    'H100 pcie',
    { vramGb: 80, productName: 'NVIDIA H100 PCIe', memoryMib: 81_559, hasEcc: true, hasMig: true },
  ],
  [
    'H100 sxm5',
    { vramGb: 80, productName: 'NVIDIA H100 80GB HBM3', memoryMib: 81_559, hasEcc: true, hasMig: true },
  ],
  ['H200 sxm5', { vramGb: 141, productName: 'NVIDIA H200', memoryMib: 143_771, hasEcc: true, hasMig: true }],
  ['B200 sxm6', { vramGb: 180, productName: 'NVIDIA B200', memoryMib: 183_359, hasEcc: true, hasMig: true }],
]);

/** Finds the GPU of an offer. @throws when the tables above do not fit each other */
export function getLabGpu(offer: Pick<LabOffer, 'gpuType' | 'interconnect'>): LabGpu {
  const gpu = GPUS.get(`${offer.gpuType} ${offer.interconnect}`);
  if (gpu === undefined) throw new Error(`the lab's GPU table lacks ${offer.gpuType} ${offer.interconnect}`);
  return gpu;
}

/** Finds the offer with this cloud, type and region. */
export function findLabOffer(cloud: string, type: string, region: string): LabOffer | undefined {
  return labOffers.find((offer) => offer.cloud === cloud && offer.type === type && offer.region === region);
}

/** The lab's offers in the dialect of a cloud: its own only, since it resells nobody's. */
export const runpodLabOffers: readonly LabOffer[] = offersOf('runpod');
export const vastLabOffers: readonly LabOffer[] = offersOf('vast');
export const lambdaLabOffers: readonly LabOffer[] = offersOf('lambda');

function offersOf(wanted: string): LabOffer[] {
  return labOffers.filter(({ cloud }) => cloud === wanted);
}

/** An operating system that every lab machine can have, as Shadeform spells them. */
export const labOsOptions: readonly string[] = [
  'ubuntu24.04_cuda12.8_shade_os',
  'ubuntu22.04_cuda12.6_shade_os',
];
