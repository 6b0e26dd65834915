/** One GPU as the catalog shows it. */
export interface GpuModel {
  /** Canonical code: upper snake, with form factor and VRAM only when the product is sold in more than one. */
  readonly model: string;
  /** What a renter treats as interchangeable: the name, with VRAM when it varies, without the form factor. */
  readonly family: string;
  /** Per GPU (decision 13). */
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

interface Row extends GpuModel {
  /** The upstream's `gpu_type`, as spelled. */
  readonly gpuType: string;
  /** null where the product exists in one form only. */
  readonly form: FormFactor | null;
  /** Other figures that upstreams give for the same memory (usable against nominal). */
  readonly alsoVramGb?: readonly number[];
}

/**
 * From the upstream's spelling to our model. A table and no rule: a name that is not here is skipped and counted,
 * never guessed, because a wrong guess sells the wrong machine. VRAM is the product's, not the listing's.
 */
const ROWS: readonly Row[] = [
  { gpuType: 'RTX4090', form: null, model: 'RTX_4090', family: 'rtx-4090', vramGb: 24 },
  { gpuType: 'RTX5090', form: null, model: 'RTX_5090', family: 'rtx-5090', vramGb: 32 },
  { gpuType: 'RTX4000Ada', form: null, model: 'RTX_4000_ADA', family: 'rtx-4000-ada', vramGb: 20 },
  { gpuType: 'RTX6000Ada', form: null, model: 'RTX_6000_ADA', family: 'rtx-6000-ada', vramGb: 48 },
  {
    gpuType: 'RTXPro6000',
    form: null,
    model: 'RTX_PRO_6000',
    family: 'rtx-pro-6000',
    vramGb: 96,
    alsoVramGb: [95],
  },
  { gpuType: 'A4000', form: null, model: 'RTX_A4000', family: 'rtx-a4000', vramGb: 16 },
  { gpuType: 'A5000', form: null, model: 'RTX_A5000', family: 'rtx-a5000', vramGb: 24 },
  { gpuType: 'A6000', form: null, model: 'RTX_A6000', family: 'rtx-a6000', vramGb: 48 },
  { gpuType: 'A40', form: null, model: 'A40', family: 'a40', vramGb: 48 },
  { gpuType: 'L4', form: null, model: 'L4', family: 'l4', vramGb: 24 },
  { gpuType: 'L40', form: null, model: 'L40', family: 'l40', vramGb: 48 },
  { gpuType: 'L40S', form: null, model: 'L40S', family: 'l40s', vramGb: 48 },
  { gpuType: 'A100', form: 'pcie', model: 'A100_PCIE_40GB', family: 'a100-40gb', vramGb: 40 },
  { gpuType: 'A100', form: 'sxm', model: 'A100_SXM_40GB', family: 'a100-40gb', vramGb: 40 },
  { gpuType: 'A100_80G', form: 'pcie', model: 'A100_PCIE_80GB', family: 'a100-80gb', vramGb: 80 },
  { gpuType: 'A100_80G', form: 'sxm', model: 'A100_SXM_80GB', family: 'a100-80gb', vramGb: 80 },
  { gpuType: 'H100', form: 'pcie', model: 'H100_PCIE_80GB', family: 'h100-80gb', vramGb: 80 },
  { gpuType: 'H100', form: 'sxm', model: 'H100_SXM_80GB', family: 'h100-80gb', vramGb: 80 },
  { gpuType: 'H100', form: 'nvl', model: 'H100_NVL_94GB', family: 'h100-94gb', vramGb: 94 },
  // The spec's naming adds what varies: the H200 is sold as SXM and as NVL, both with 141 GB.
  {
    gpuType: 'H200',
    form: 'sxm',
    model: 'H200_SXM_141GB',
    family: 'h200-141gb',
    vramGb: 141,
    alsoVramGb: [140, 143],
  },
  {
    gpuType: 'H200',
    form: 'nvl',
    model: 'H200_NVL_141GB',
    family: 'h200-141gb',
    vramGb: 141,
    alsoVramGb: [140, 143],
  },
  {
    gpuType: 'B200',
    form: null,
    model: 'B200',
    family: 'b200',
    vramGb: 180,
    alsoVramGb: [179, 183, 186, 192],
  },
];

/**
 * Finds our model of an upstream GPU; undefined when the table does not know it for certain.
 * @param gpu.vramGb what the upstream says per GPU; a figure that contradicts the product makes it unknown
 */
export function findGpuModel(gpu: {
  gpuType: string;
  interconnect: string;
  vramGb: number;
}): GpuModel | undefined {
  const form = FORM_FACTORS[gpu.interconnect.toLowerCase()];
  const row = ROWS.find(
    (candidate) =>
      candidate.gpuType === gpu.gpuType &&
      (candidate.form === null || candidate.form === form) &&
      (candidate.vramGb === gpu.vramGb || candidate.alsoVramGb?.includes(gpu.vramGb) === true),
  );
  return row && { model: row.model, family: row.family, vramGb: row.vramGb };
}
