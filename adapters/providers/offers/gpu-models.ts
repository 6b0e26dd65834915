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
  { model: 'RTX_3090', family: 'rtx-3090', vramGb: 24 },
  { model: 'RTX_4090', family: 'rtx-4090', vramGb: 24 },
  { model: 'RTX_5080', family: 'rtx-5080', vramGb: 16 },
  { model: 'RTX_5090', family: 'rtx-5090', vramGb: 32 },
  { model: 'RTX_4000_ADA', family: 'rtx-4000-ada', vramGb: 20 },
  { model: 'RTX_6000_ADA', family: 'rtx-6000-ada', vramGb: 48 },
  { model: 'RTX_PRO_6000', family: 'rtx-pro-6000', vramGb: 96, alsoVramGb: [95] },
  { model: 'RTX_A4000', family: 'rtx-a4000', vramGb: 16 },
  { model: 'RTX_A5000', family: 'rtx-a5000', vramGb: 24 },
  { model: 'RTX_A6000', family: 'rtx-a6000', vramGb: 48 },
  // With ECC on, a tenth less is usable.
  { model: 'A10', family: 'a10', vramGb: 24, alsoVramGb: [22, 23] },
  { model: 'A40', family: 'a40', vramGb: 48, alsoVramGb: [45] },
  { model: 'L4', family: 'l4', vramGb: 24, alsoVramGb: [22, 23] },
  { model: 'L40', family: 'l40', vramGb: 48, alsoVramGb: [45] },
  { model: 'L40S', family: 'l40s', vramGb: 48, alsoVramGb: [45] },
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
  { model: 'GH200', family: 'gh200', vramGb: 96, alsoVramGb: [95] },
  { model: 'B200', family: 'b200', vramGb: 180, alsoVramGb: [179, 183, 186, 192] },
  { model: 'B300', family: 'b300', vramGb: 288, alsoVramGb: [262, 268, 269, 270, 275] },
  { model: 'MI300X', family: 'mi300x', vramGb: 192, alsoVramGb: [191] },
];

/** An upstream API with its own words for GPUs. */
export type Dialect = 'shadeform' | 'runpod' | 'vast' | 'lambda';

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
    ['RTX3090', 'RTX_3090'],
    ['RTX5080', 'RTX_5080'],
    ['A10', 'A10'],
    ['GH200', 'GH200'],
    ['B200', 'B200'],
    ['B300', 'B300'],
    ['MI300X', 'MI300X'],
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
    ['NVIDIA GeForce RTX 3090', 'RTX_3090'],
    ['NVIDIA GeForce RTX 5080', 'RTX_5080'],
    ['NVIDIA GH200 480GB', 'GH200'],
    ['NVIDIA B200', 'B200'],
    ['NVIDIA B300 SXM6 AC', 'B300'],
    ['AMD Instinct MI300X OAM', 'MI300X'],
  ],
  vast: [
    ['RTX 3090', 'RTX_3090'],
    ['RTX 4090', 'RTX_4090'],
    ['RTX 5080', 'RTX_5080'],
    ['RTX 5090', 'RTX_5090'],
    ['RTX 4000Ada', 'RTX_4000_ADA'],
    ['RTX 6000Ada', 'RTX_6000_ADA'],
    ['RTX PRO 6000 S', 'RTX_PRO_6000'],
    ['RTX PRO 6000 WS', 'RTX_PRO_6000'],
    ['RTX A4000', 'RTX_A4000'],
    ['RTX A5000', 'RTX_A5000'],
    ['RTX A6000', 'RTX_A6000'],
    ['A10', 'A10'],
    ['A40', 'A40'],
    ['L4', 'L4'],
    ['L40', 'L40'],
    ['L40S', 'L40S'],
    // One name for both sizes: the memory tells which.
    ['A100 PCIE', 'A100_PCIE_40GB'],
    ['A100 PCIE', 'A100_PCIE_80GB'],
    ['A100 SXM4', 'A100_SXM_40GB'],
    ['A100 SXM4', 'A100_SXM_80GB'],
    ['H100 PCIE', 'H100_PCIE_80GB'],
    ['H100 SXM', 'H100_SXM_80GB'],
    ['H100 NVL', 'H100_NVL_94GB'],
    ['H200', 'H200_SXM_141GB'],
    ['H200 NVL', 'H200_NVL_141GB'],
    ['GH200 SXM', 'GH200'],
    ['B200', 'B200'],
    ['B300', 'B300'],
    ['MI300X', 'MI300X'],
  ],
  // The GPU's description without its memory: "H100 (80 GB SXM5)" is H100 with the socket SXM5.
  lambda: [
    ['A10', 'A10'],
    ['RTX A6000', 'RTX_A6000'],
    ['A6000', 'RTX_A6000'],
    ['A100', 'A100_PCIE_40GB', 'pcie'],
    ['A100', 'A100_SXM_40GB', 'sxm'],
    ['A100', 'A100_SXM_80GB', 'sxm'],
    ['H100', 'H100_PCIE_80GB', 'pcie'],
    ['H100', 'H100_SXM_80GB', 'sxm'],
    ['GH200', 'GH200'],
    ['B200', 'B200'],
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
  const names = SPELLINGS[dialect].flatMap(([name, model, wanted]) =>
    name === gpu.name && (wanted === undefined || wanted === form) ? model : [],
  );
  const row = MODELS.find(
    ({ model, vramGb, alsoVramGb = [] }) =>
      names.includes(model) && [vramGb, ...alsoVramGb].includes(gpu.vramGb),
  );
  return row && { model: row.model, family: row.family, vramGb: row.vramGb };
}
