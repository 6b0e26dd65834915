/** One GPU as the catalog shows it. */
export interface GpuModel {
  /** Canonical code: upper snake, with form factor and VRAM only when the product is sold in more than one. */
  readonly model: string;
  /**
   * The products that a renter treats as interchangeable: the name, with VRAM when it varies, without the form factor.
   */
  readonly family: string;
  /** Per GPU (decision 13, "Live listings"). */
  readonly vramGb: number;
}

/** Sockets as a renter sees them; the generation (sxm4, sxm5, sxm6) follows from the GPU. */
type FormFactor = 'pcie' | 'sxm' | 'nvl';

const FORM_FACTORS: Readonly<Record<string, FormFactor>> = {
  pcie: 'pcie',
  sxm: 'sxm',
  sxm3: 'sxm',
  sxm4: 'sxm',
  sxm5: 'sxm',
  sxm6: 'sxm',
  nvl: 'nvl',
};

/** The GPUs that we sell. VRAM is the product's, not the listing's. */
const MODELS: readonly (GpuModel & {
  /** Other figures that upstreams give for the same memory (usable against nominal). */
  readonly alsoVramGb?: readonly number[];
})[] = [
  { model: 'RTX_4090', family: 'rtx-4090', vramGb: 24 },
  { model: 'RTX_5090', family: 'rtx-5090', vramGb: 32 },
  { model: 'RTX_4000_ADA', family: 'rtx-4000-ada', vramGb: 20 },
  { model: 'RTX_6000_ADA', family: 'rtx-6000-ada', vramGb: 48 },
  { model: 'RTX_PRO_6000', family: 'rtx-pro-6000', vramGb: 96, alsoVramGb: [95] },
  { model: 'RTX_A4000', family: 'rtx-a4000', vramGb: 16 },
  { model: 'RTX_A5000', family: 'rtx-a5000', vramGb: 24 },
  { model: 'RTX_A6000', family: 'rtx-a6000', vramGb: 48 },
  { model: 'A40', family: 'a40', vramGb: 48 },
  { model: 'L4', family: 'l4', vramGb: 24 },
  { model: 'L40', family: 'l40', vramGb: 48 },
  { model: 'L40S', family: 'l40s', vramGb: 48 },
  { model: 'A100_PCIE_40GB', family: 'a100-40gb', vramGb: 40 },
  { model: 'A100_SXM_40GB', family: 'a100-40gb', vramGb: 40 },
  { model: 'A100_PCIE_80GB', family: 'a100-80gb', vramGb: 80 },
  { model: 'A100_SXM_80GB', family: 'a100-80gb', vramGb: 80 },
  { model: 'H100_PCIE_80GB', family: 'h100-80gb', vramGb: 80 },
  { model: 'H100_SXM_80GB', family: 'h100-80gb', vramGb: 80 },
  { model: 'H100_NVL_94GB', family: 'h100-94gb', vramGb: 94 },
  // The spec's naming adds what varies: the H200 is sold as SXM and as NVL, both with 141 GB.
  { model: 'H200_SXM_141GB', family: 'h200-141gb', vramGb: 141, alsoVramGb: [140, 143] },
  { model: 'H200_NVL_141GB', family: 'h200-141gb', vramGb: 141, alsoVramGb: [140, 143] },
  { model: 'B200', family: 'b200', vramGb: 180, alsoVramGb: [179, 183, 186, 192] },
];

/** An upstream API with its own words for GPUs. */
export type Dialect = 'shadeform' | 'runpod';

/** Their name, our model, and the form factor where the name alone does not tell the product. */
type Spelling = readonly [name: string, model: string, form?: FormFactor];

/**
 * Maps the upstreams' spellings to our models. It is a table and no rule: an unknown name is skipped and counted, never
 * guessed, because a wrong guess sells the wrong machine.
 */
const SPELLINGS: Readonly<Record<Dialect, readonly Spelling[]>> = {
  shadeform: [
    ['RTX4090', 'RTX_4090'],
    ['RTX5090', 'RTX_5090'],
    ['RTX4000Ada', 'RTX_4000_ADA'],
    ['RTX6000Ada', 'RTX_6000_ADA'],
    ['RTXPro6000', 'RTX_PRO_6000'],
    ['A4000', 'RTX_A4000'],
    ['A5000', 'RTX_A5000'],
    ['A6000', 'RTX_A6000'],
    ['A40', 'A40'],
    ['L4', 'L4'],
    ['L40', 'L40'],
    ['L40S', 'L40S'],
    ['A100', 'A100_PCIE_40GB', 'pcie'],
    ['A100', 'A100_SXM_40GB', 'sxm'],
    ['A100_80G', 'A100_PCIE_80GB', 'pcie'],
    ['A100_80G', 'A100_SXM_80GB', 'sxm'],
    ['H100', 'H100_PCIE_80GB', 'pcie'],
    ['H100', 'H100_SXM_80GB', 'sxm'],
    ['H100', 'H100_NVL_94GB', 'nvl'],
    ['H200', 'H200_SXM_141GB', 'sxm'],
    ['H200', 'H200_NVL_141GB', 'nvl'],
    ['B200', 'B200'],
  ],
  // runpod/docs, references/gpu-types.mdx: the GPU ids of its catalog.
  runpod: [
    ['NVIDIA GeForce RTX 4090', 'RTX_4090'],
    ['NVIDIA GeForce RTX 5090', 'RTX_5090'],
    ['NVIDIA RTX 4000 Ada Generation', 'RTX_4000_ADA'],
    ['NVIDIA RTX 6000 Ada Generation', 'RTX_6000_ADA'],
    ['NVIDIA RTX PRO 6000 Blackwell Server Edition', 'RTX_PRO_6000'],
    ['NVIDIA RTX PRO 6000 Blackwell Workstation Edition', 'RTX_PRO_6000'],
    ['NVIDIA RTX A4000', 'RTX_A4000'],
    ['NVIDIA RTX A5000', 'RTX_A5000'],
    ['NVIDIA RTX A6000', 'RTX_A6000'],
    ['NVIDIA A40', 'A40'],
    ['NVIDIA L4', 'L4'],
    ['NVIDIA L40', 'L40'],
    ['NVIDIA L40S', 'L40S'],
    ['NVIDIA A100 80GB PCIe', 'A100_PCIE_80GB'],
    ['NVIDIA A100-SXM4-80GB', 'A100_SXM_80GB'],
    ['NVIDIA H100 PCIe', 'H100_PCIE_80GB'],
    ['NVIDIA H100 80GB HBM3', 'H100_SXM_80GB'],
    ['NVIDIA H100 NVL', 'H100_NVL_94GB'],
    ['NVIDIA H200', 'H200_SXM_141GB'],
    ['NVIDIA H200 NVL', 'H200_NVL_141GB'],
    ['NVIDIA B200', 'B200'],
  ],
};

/**
 * Finds our model of an upstream GPU; undefined when the table does not know it for certain.
 * @param gpu.interconnect the socket, where the upstream gives it apart from the name
 * @param gpu.vramGb the upstream's figure per GPU; a figure that contradicts the product makes it unknown
 */
export function findGpuModel(
  dialect: Dialect,
  gpu: { readonly name: string; readonly interconnect?: string; readonly vramGb: number },
): GpuModel | undefined {
  const form = FORM_FACTORS[gpu.interconnect?.toLowerCase() ?? ''];
  const spelling = SPELLINGS[dialect].find(
    ([name, , wanted]) => name === gpu.name && (wanted === undefined || wanted === form),
  );
  const row = MODELS.find(({ model }) => model === spelling?.[1]);
  if (row === undefined) return undefined;
  const { model, family, vramGb, alsoVramGb = [] } = row;
  return [vramGb, ...alsoVramGb].includes(gpu.vramGb) ? { model, family, vramGb } : undefined;
}
