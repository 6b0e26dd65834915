import type { Pod, Provider } from '../provider.js';
import type { Upstream } from './upstream.js';

/**
 * Finds our pods in the one list that an upstream keeps of all.
 * @param list.findPod undefined for an element that is gone, or is not ours
 */
export function podListOf(
  upstream: Upstream,
  list: {
    readonly path: string;
    readonly name: string;
    readonly findPod: (element: unknown) => Pod | undefined;
  },
): Pick<Provider, 'listPods' | 'find'> {
  const request = {
    path: list.path,
    name: list.name,
    read: (element: unknown) => [list.findPod(element) ?? []].flat(),
  };
  return {
    listPods: (onPart) => upstream.list('listing pods', { ...request, onPart }),
    async find(tag, wait) {
      const isWanted = (pod: Pod): boolean => pod.tag === tag;
      const pods = await upstream.list('finding a pod', { ...request, ...wait, isWanted });
      return pods.find(isWanted);
    },
  };
}
