/** A number of requests in each window of this length. */
export interface LabQuota {
  readonly name: string;
  readonly quota: number;
  readonly windowSeconds: number;
}

/** The example of RunPod's published description. */
const DOCUMENTED: readonly LabQuota[] = [
  { name: 'minute', quota: 60, windowSeconds: 60 },
  { name: 'hour', quota: 3_000, windowSeconds: 3_600 },
  { name: 'day', quota: 50_000, windowSeconds: 86_400 },
];

interface Window extends LabQuota {
  used: number;
  endsAtMs: number;
}

/**
 * The quotas of RunPod's dialect, for the one account. The documented quotas are told and never refuse, so that tests
 * may ask as often as they like; quotas that were set refuse further requests.
 */
export class Quotas {
  #windows: Window[] = [];
  #refuses = false;
  /** The number of requests beyond the quotas since they were set. */
  refused = 0;

  constructor() {
    this.set(null);
  }

  /** @param quotas null for the documented ones; an empty list: the answers tell nothing */
  set(quotas: readonly LabQuota[] | null): void {
    this.#refuses = quotas !== null;
    this.#windows = (quotas ?? DOCUMENTED).map((quota) => ({ ...quota, used: 0, endsAtMs: 0 }));
    this.refused = 0;
  }

  get told(): readonly LabQuota[] {
    return this.#windows.map(({ name, quota, windowSeconds }) => ({ name, quota, windowSeconds }));
  }

  /** Counts one request. @returns the window that it exceeds, and the seconds until that window ends */
  take(nowMs: number): { readonly beyond: string; readonly retryAfterSeconds: number } | undefined {
    for (const window of this.#windows) {
      if (window.endsAtMs > nowMs) continue;
      window.used = 0;
      window.endsAtMs = nowMs + window.windowSeconds * 1000;
    }
    const full = this.#windows.find(({ used, quota }) => used >= quota);
    if (full !== undefined && this.#refuses) {
      this.refused += 1;
      return { beyond: full.name, retryAfterSeconds: secondsTo(full.endsAtMs, nowMs) };
    }
    for (const window of this.#windows) window.used += 1;
    return undefined;
  }

  /** The headers of each answer, as draft-ietf-httpapi-ratelimit-headers says. */
  headers(nowMs: number): Readonly<Record<string, string>> {
    if (this.#windows.length === 0) return {};
    const list = (memberOf: (window: Window) => string): string => this.#windows.map(memberOf).join(', ');
    return {
      'ratelimit-policy': list(({ name, quota, windowSeconds }) => `"${name}";q=${quota};w=${windowSeconds}`),
      ratelimit: list(({ name, quota, used, endsAtMs }) => {
        return `"${name}";r=${Math.max(0, quota - used)};t=${secondsTo(endsAtMs, nowMs)}`;
      }),
    };
  }
}

function secondsTo(atMs: number, nowMs: number): number {
  return Math.max(1, Math.ceil((atMs - nowMs) / 1000));
}
