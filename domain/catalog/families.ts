/** A kind of GPU that renters treat as interchangeable: one name and memory, whatever its form factor. */
export interface Family {
  readonly id: string;
  /** The memory of one GPU; an upstream's listing says its own. */
  readonly vramGb: number;
  /** Canonical model codes, as listings have them. */
  readonly models: readonly string[];
}

/** Every GPU family that the service knows (spec: Listing, `family` and `model`). */
export const families: readonly Family[] = [
  { id: 'rtx-3090', vramGb: 24, models: ['RTX_3090'] },
  { id: 'rtx-4090', vramGb: 24, models: ['RTX_4090'] },
  { id: 'rtx-5080', vramGb: 16, models: ['RTX_5080'] },
  { id: 'rtx-5090', vramGb: 32, models: ['RTX_5090'] },
  { id: 'rtx-4000-ada', vramGb: 20, models: ['RTX_4000_ADA'] },
  { id: 'rtx-6000-ada', vramGb: 48, models: ['RTX_6000_ADA'] },
  { id: 'rtx-pro-6000', vramGb: 96, models: ['RTX_PRO_6000'] },
  { id: 'rtx-a4000', vramGb: 16, models: ['RTX_A4000'] },
  { id: 'rtx-a5000', vramGb: 24, models: ['RTX_A5000'] },
  { id: 'rtx-a6000', vramGb: 48, models: ['RTX_A6000'] },
  { id: 'a10', vramGb: 24, models: ['A10'] },
  { id: 'a40', vramGb: 48, models: ['A40'] },
  { id: 'l4', vramGb: 24, models: ['L4'] },
  { id: 'l40', vramGb: 48, models: ['L40'] },
  { id: 'l40s', vramGb: 48, models: ['L40S'] },
  { id: 'a100-40gb', vramGb: 40, models: ['A100_PCIE_40GB', 'A100_SXM_40GB'] },
  { id: 'a100-80gb', vramGb: 80, models: ['A100_PCIE_80GB', 'A100_SXM_80GB'] },
  { id: 'h100-80gb', vramGb: 80, models: ['H100_PCIE_80GB', 'H100_SXM_80GB'] },
  { id: 'h100-94gb', vramGb: 94, models: ['H100_NVL_94GB'] },
  { id: 'h200-141gb', vramGb: 141, models: ['H200_SXM_141GB', 'H200_NVL_141GB'] },
  { id: 'gh200', vramGb: 96, models: ['GH200'] },
  { id: 'b200', vramGb: 180, models: ['B200'] },
  { id: 'b300', vramGb: 288, models: ['B300'] },
  { id: 'mi300x', vramGb: 192, models: ['MI300X'] },
];

/** Tells whether a text is the id of a family. */
export function isFamilyId(text: string): boolean {
  return families.some((family) => family.id === text);
}
