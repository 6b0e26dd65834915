import Joi from 'joi';
import { getLabGpu, type LabOffer } from './offers.js';
import type { LabPod, LabUse } from './state.js';

const idle: LabUse = { gpuPercent: 0, cpuPercent: 1, memoryPercent: 3, told: 'well' };

const percent = Joi.number().min(0).max(100).allow(null);

export const useSchema = Joi.object({
  gpuPercent: Joi.alternatives(percent, Joi.array().items(percent)).default(idle.gpuPercent),
  cpuPercent: percent.default(idle.cpuPercent),
  memoryPercent: percent.default(idle.memoryPercent),
  told: Joi.string().valid('well', 'absent', 'stale').default(idle.told),
});

export function useOf(pod: LabPod): LabUse {
  return pod.use ?? idle;
}

function percentsOf({ gpuPercent }: LabUse, count: number): (number | null)[] {
  return typeof gpuPercent === 'object' && gpuPercent !== null
    ? [...gpuPercent]
    : Array.from({ length: count }, () => gpuPercent);
}

/** The part of RunPod's `runtime` that tells use. What is N/A is left out. */
export function runpodUseOf(pod: LabPod, gpuCount: number): Record<string, unknown> {
  const use = useOf(pod);
  const upMs = Date.now() - (pod.activeAtMs ?? Date.now());
  // Its container has been up for longer with each report.
  const uptime = use.told === 'stale' ? 1 : 1 + Math.floor(upMs / 1_000);
  if (use.told === 'absent') return { uptime };
  const told = (util: number | null): object => (util === null ? {} : { util: Math.round(util) });
  return {
    uptime,
    gpus: percentsOf(use, gpuCount).map((util) => (util === null ? {} : { ...told(util), memoryUtil: 0 })),
    cpu: told(use.cpuPercent),
    memory: told(use.memoryPercent),
  };
}

/** The fields of Vast's instance that tell use: one number for all of its GPUs. */
export function vastUseOf(pod: LabPod, offer: LabOffer | undefined): Record<string, unknown> {
  const use = useOf(pod);
  const gpuCount = offer?.gpuCount ?? 1;
  const memory = offer === undefined ? null : getLabGpu(offer).memoryMib / 1_024;
  const told = percentsOf(use, gpuCount).filter((value) => value !== null);
  const util = told.length === 0 ? null : told.reduce((sum, value) => sum + value, 0) / told.length;
  if (pod.status !== 'active' || use.told === 'absent') return { gpu_util: null, num_gpus: gpuCount };
  return {
    ...{ num_gpus: gpuCount, gpu_util: util, cpu_util: use.cpuPercent, mem_limit: memory },
    mem_usage: memory === null || use.memoryPercent === null ? null : (memory * use.memoryPercent) / 100,
  };
}
