/** A product as its driver names it (`nvidia-smi`), in any of its spellings. */
interface GpuProduct {
  /** The model as the catalog names it; null: one that we don't sell, so that it is a wrong one wherever it shows up. */
  readonly model: string | null;
  /** Without the vendor's name, which drivers before 455 leave out. */
  readonly names: readonly string[];
  /** The memory that its driver tells, in MiB; where ECC takes a part of it, without that part. */
  readonly memoryMib: number;
}

/**
 * The words are those of public logs and of RunPod's list of GPU types (runpod/docs, references/gpu-types.mdx). A name
 * that is not here tells nothing: it may be a new spelling, or a virtual GPU.
 */
const PRODUCTS: readonly GpuProduct[] = [
  { model: 'RTX_3090', names: ['GeForce RTX 3090'], memoryMib: 24_268 },
  { model: 'RTX_4090', names: ['GeForce RTX 4090'], memoryMib: 24_564 },
  { model: 'RTX_5080', names: ['GeForce RTX 5080'], memoryMib: 16_303 },
  { model: 'RTX_5090', names: ['GeForce RTX 5090'], memoryMib: 32_607 },
  { model: 'RTX_4000_ADA', names: ['RTX 4000 Ada Generation'], memoryMib: 19_195 },
  { model: 'RTX_6000_ADA', names: ['RTX 6000 Ada Generation'], memoryMib: 46_068 },
  {
    model: 'RTX_PRO_6000',
    names: [
      'RTX PRO 6000 Blackwell Server Edition',
      'RTX PRO 6000 Blackwell Workstation Edition',
      'RTX PRO 6000 Blackwell Max-Q Workstation Edition',
    ],
    memoryMib: 97_251,
  },
  { model: 'RTX_A4000', names: ['RTX A4000'], memoryMib: 15_352 },
  { model: 'RTX_A5000', names: ['RTX A5000'], memoryMib: 23_028 },
  { model: 'RTX_A6000', names: ['RTX A6000'], memoryMib: 46_068 },
  { model: 'A10', names: ['A10'], memoryMib: 22_731 },
  { model: 'A40', names: ['A40'], memoryMib: 45_634 },
  { model: 'L4', names: ['L4'], memoryMib: 22_731 },
  { model: 'L40', names: ['L40'], memoryMib: 45_634 },
  { model: 'L40S', names: ['L40S'], memoryMib: 45_634 },
  { model: 'A100_PCIE_40GB', names: ['A100-PCIE-40GB'], memoryMib: 40_536 },
  { model: 'A100_SXM_40GB', names: ['A100-SXM4-40GB'], memoryMib: 40_536 },
  { model: 'A100_PCIE_80GB', names: ['A100 80GB PCIe', 'A100-PCIE-80GB'], memoryMib: 81_251 },
  { model: 'A100_SXM_80GB', names: ['A100-SXM4-80GB', 'A100-SXM-80GB'], memoryMib: 81_251 },
  { model: 'H100_PCIE_80GB', names: ['H100 PCIe', 'H100 80GB HBM2e'], memoryMib: 81_559 },
  { model: 'H100_SXM_80GB', names: ['H100 80GB HBM3'], memoryMib: 81_559 },
  { model: 'H100_NVL_94GB', names: ['H100 NVL'], memoryMib: 95_830 },
  { model: 'H200_SXM_141GB', names: ['H200'], memoryMib: 143_771 },
  { model: 'H200_NVL_141GB', names: ['H200 NVL'], memoryMib: 143_771 },
  { model: 'GH200', names: ['GH200 480GB'], memoryMib: 97_871 },
  { model: 'B200', names: ['B200'], memoryMib: 183_359 },
  { model: 'B300', names: ['B300 SXM6 AC'], memoryMib: 275_040 },
  ...unsold('Tesla T4', 'T4', 'Tesla P100-PCIE-16GB', 'Tesla V100-SXM2-16GB', 'Tesla V100-SXM2-32GB'),
  ...unsold('Tesla V100-PCIE-16GB', 'Tesla K80', 'A2', 'A10G', 'A16', 'A30', 'H20', 'H800', 'A800-SXM4-80GB'),
  ...unsold(
    'GeForce RTX 2080 Ti',
    'GeForce RTX 3060',
    'GeForce RTX 3070',
    'GeForce RTX 3080',
    'GeForce RTX 3090 Ti',
  ),
  ...unsold('GeForce RTX 4060 Ti', 'GeForce RTX 4070 Ti', 'GeForce RTX 4080', 'GeForce RTX 4090 D'),
  ...unsold('GeForce RTX 5070 Ti', 'GeForce RTX 5090 D', 'Quadro RTX 6000', 'Quadro RTX 8000', 'RTX A2000'),
  ...unsold('RTX 2000 Ada Generation', 'RTX 5000 Ada Generation'),
];

function unsold(...names: string[]): GpuProduct[] {
  return [{ model: null, names, memoryMib: 0 }];
}

const byName = new Map(PRODUCTS.flatMap((product) => product.names.map((name) => [name, product] as const)));

/** Finds what the driver names so; undefined for a name that tells nothing. */
export function findProduct(name: string): GpuProduct | undefined {
  return byName.get(name.replace(/^NVIDIA /, ''));
}

/** The memory that the driver of a model tells, in MiB; undefined for one whose words are not known. */
export function memoryMibOf(model: string): number | undefined {
  return PRODUCTS.find((product) => product.model === model)?.memoryMib;
}
