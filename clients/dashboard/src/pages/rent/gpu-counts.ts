/** The numbers of GPUs that machines have. */
export const gpuCounts = [1, 2, 4, 8] as const;
export type GpuCount = (typeof gpuCounts)[number];
