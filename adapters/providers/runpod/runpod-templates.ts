import type { TemplateId } from '../../../domain/catalog/templates.js';

/** The start of a RunPod container. */
export interface RunpodTemplate {
  readonly image: string;
  /** The container's own disk. */
  readonly diskGb: number;
}

const PYTORCH: RunpodTemplate = { image: 'runpod/pytorch:1.0.2-cu1281-torch280-ubuntu2404', diskGb: 50 };

/** The images below hold CUDA 12.8: a host with an older driver can't start them. */
export const runpodMinCudaVersion = '12.8';

/**
 * Maps each template to RunPod (decision 13, "Live listings"): an image, because RunPod's machines are containers
 * themselves and hold no container runtime. Only RunPod's own images start an SSH daemon from PUBLIC_KEY
 * (runpod/containers, container-template/start.sh and the templates' README.md), so the servers' images can't be
 * offered here.
 */
export const runpodTemplates: ReadonlyMap<TemplateId, RunpodTemplate> = new Map([
  ['ubuntu-24-04', { image: 'runpod/base:1.0.2-cuda1281-ubuntu2404', diskGb: 50 }],
  ['pytorch', PYTORCH],
  // The same image starts JupyterLab where JUPYTER_PASSWORD is set.
  ['jupyter', PYTORCH],
]);
