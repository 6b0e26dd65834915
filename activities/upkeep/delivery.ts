import { deliverIntents } from './deliver-intents.js';
import type { ActivityDeps } from '../deps.js';

/** How long the last delivery of a run may go on beyond the run's end. */
const DELIVERY_ENDS_WITHIN_MS = 2_000;

/** Delivers beside a loop, one delivery at a time. A round that finds one under way asks for another after it. */
export class Delivery {
  #running: Promise<void> | undefined;
  #again = false;

  constructor(private readonly deps: ActivityDeps) {}

  begin(): void {
    this.#again = this.#running !== undefined;
    this.#running ??= this.#deliver().finally(() => {
      this.#running = undefined;
      if (this.#again) this.begin();
    });
  }

  /** Resolves when no delivery is under way, or soon: the next run delivers what is left. */
  async ended(): Promise<void> {
    this.#again = false;
    const limit = { timer: undefined as NodeJS.Timeout | undefined };
    const soon = new Promise<void>((resolve) => {
      limit.timer = setTimeout(resolve, DELIVERY_ENDS_WITHIN_MS);
    });
    await Promise.race([this.#running, soon]);
    clearTimeout(limit.timer);
  }

  async #deliver(): Promise<void> {
    try {
      await deliverIntents(this.deps);
    } catch (error) {
      this.deps.log.warn({ err: error }, 'follow-up work could not be delivered; trying again');
    }
  }
}
