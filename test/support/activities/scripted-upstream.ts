import type { AllocatedPod, AllocationRequest, Pod, Provider } from '../../../adapters/providers/provider.js';

/** An upstream that answers as a test scripts it and records its calls. */
export class ScriptedUpstream {
  readonly asked: (readonly [name: 'allocate' | 'find' | 'terminate', what: string])[] = [];
  /** The outcomes of its next creates. Without one, it sells a pod at the agreed price. */
  readonly allocations: ((request: AllocationRequest) => Promise<AllocatedPod>)[] = [];
  /** The pods that it shows, by tag. */
  readonly pods = new Map<string, Pod>();
  /** Runs when the upstream is asked to end a pod. */
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

  /** Forgets the recorded calls and the sold pods. */
  reset(): void {
    this.asked.length = 0;
    this.allocations.length = 0;
    this.pods.clear();
    this.terminated = () => Promise.resolve();
  }

  /** Makes a pod. The price an hour is the agreed one by default. */
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
