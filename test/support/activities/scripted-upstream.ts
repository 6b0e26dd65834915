import type { AllocatedPod, AllocationRequest, Pod, Provider } from '../../../adapters/providers/provider.js';

/** An upstream that answers as a test scripts it, and keeps what it was asked. */
export class ScriptedUpstream {
  readonly asked: (readonly [name: 'allocate' | 'find' | 'terminate', what: string])[] = [];
  /** What its next creates come to; without one it sells a pod at the price that was agreed. */
  readonly allocations: ((request: AllocationRequest) => Promise<AllocatedPod>)[] = [];
  /** By their tags: what it shows. */
  readonly pods = new Map<string, Pod>();
  /** What it does when it is asked to end a pod. */
  terminated: (podId: string) => Promise<void> = () => Promise.resolve();

  readonly port: Provider = {
    code: 'lab',
    provisionDeadlineMs: 600_000,
    templates: new Set(['ubuntu-24-04']),
    listOffers: () => Promise.resolve([]),
    listPods: () => Promise.resolve([...this.pods.values()]),
    allocate: (request) => {
      this.asked.push(['allocate', request.offerId]);
      return (this.allocations.shift() ?? ((told) => this.sell(told)))(request);
    },
    find: (tag) => {
      this.asked.push(['find', tag]);
      return Promise.resolve(this.pods.get(tag));
    },
    terminate: (podId) => {
      this.asked.push(['terminate', podId]);
      return this.terminated(podId);
    },
  };

  get names(): string[] {
    return this.asked.map(([name]) => name);
  }

  /** Forgets what it was asked and what it sold. */
  reset(): void {
    this.asked.length = 0;
    this.allocations.length = 0;
    this.pods.clear();
    this.terminated = () => Promise.resolve();
  }

  /** Makes a pod, at this price an hour or at what was agreed. */
  sell(request: AllocationRequest, pricePerHourCents = request.maxPricePerHourCents): Promise<AllocatedPod> {
    const podId = `pod-${request.tag}`;
    this.pods.set(request.tag, {
      podId,
      tag: request.tag,
      status: 'pending',
      upstreamStatus: 'creating',
      host: null,
      port: null,
      username: null,
      pricePerHourCents,
    });
    return Promise.resolve({ podId, pricePerHourCents });
  }
}
