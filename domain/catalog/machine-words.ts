import { families } from './families.js';

/** The name of a family by its id: “h100-80gb” is “H100 80 GB”, “rtx-4000-ada” is “RTX 4000 Ada”. */
export function familyName(id: string): string {
  return id.split('-').map(wordOf).join(' ');
}

function wordOf(part: string): string {
  const memory = /^(\d+)gb$/.exec(part)?.[1];
  if (memory !== undefined) return `${memory} GB`;
  return /^[a-z]{4,}$|^ada$/.test(part) ? part.charAt(0).toUpperCase() + part.slice(1) : part.toUpperCase();
}

/**
 * A machine as sentences and mails name it, by its family: “8 × H100 80 GB”.
 * @param model the listing's code, such as H100_SXM_80GB; one of no family that we know is read as words
 */
export function machineWords(gpuCount: number, model: string): string {
  const family = families.find(({ models }) => models.includes(model));
  return `${gpuCount} × ${family ? familyName(family.id) : model.replaceAll('_', ' ')}`;
}
