import type { TemplateId } from '../../../domain/catalog/templates.js';

/** The disk of each container, in GB: the price of an offer is asked for with it. */
export const VAST_DISK_GB = 50;

/** The images below hold CUDA 12.8: a host whose driver knows less can't start them. */
export const vastMinCudaVersion = 12.8;

/**
 * Maps each template to an image (decision 13, "Live listings"). Vast's machines are containers, so the servers that the
 * other templates start as containers can't be offered there. With `ssh_direct` Vast's own entrypoint replaces the
 * image's one, and brings the SSH daemon along.
 */
export const vastTemplates: ReadonlyMap<TemplateId, string> = new Map([
  ['ubuntu-24-04', 'nvidia/cuda:12.8.1-base-ubuntu24.04'],
  ['pytorch', 'pytorch/pytorch:2.8.0-cuda12.8-cudnn9-devel'],
  ['jupyter', 'quay.io/jupyter/pytorch-notebook:cuda12-latest'],
]);
