import type { Listing } from '@gpu-rental/client';
import { number } from '../../format/number.js';
import { rentTexts } from '../../texts/rent.js';

const texts = rentTexts.facts;

type Size = Pick<Listing, 'vcpus' | 'memoryGb' | 'diskGb'>;

/** How large a machine is beside its GPUs, in words: “8 CPUs”, “64 GB RAM”. What its provider does not tell is left out. */
export function sizesOf({ vcpus, memoryGb, diskGb }: Size): string[] {
  return [
    ...(vcpus === null ? [] : [texts.cpus(vcpus)]),
    ...(memoryGb === null ? [] : [texts.ram(number(memoryGb))]),
    ...(diskGb === null ? [] : [texts.disk(number(diskGb))]),
  ];
}

/** All that is told of a machine beside its GPUs. */
export function factsOf(listing: Size & Pick<Listing, 'networkMbps' | 'cudaVersion'>): string[] {
  const { networkMbps, cudaVersion } = listing;
  return [
    ...sizesOf(listing),
    ...(networkMbps === null ? [] : [texts.network(number(networkMbps))]),
    ...(cudaVersion === null ? [] : [texts.cuda(cudaVersion)]),
  ];
}
