import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Figures, Kind } from './figures.js';

export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/** Above the API's own deadline for an opening, which is 22 s. */
const answerLimitMs = 40_000;
/** The time for which a client keeps asking: longer than any part is away. */
const giveUpMs = 150_000;
const pauseMs = 300;

/**
 * A careful client of the API: when a connection breaks, or the answer is "later", it asks again until an answer tells
 * the outcome. It repeats changes with the same Idempotency-Key.
 */
export class Client {
  private cookie: string | undefined;

  constructor(
    private readonly baseUrl: string,
    private readonly figures: Figures,
  ) {}

  get(kind: Kind, path: string): Promise<Answer> {
    return this.untilAnswered(kind, 'GET', path, undefined, {});
  }

  post(kind: Kind, path: string, body: object): Promise<Answer> {
    return this.untilAnswered(kind, 'POST', path, body, { 'Idempotency-Key': randomUUID() });
  }

  patch(kind: Kind, path: string, body: object): Promise<Answer> {
    return this.untilAnswered(kind, 'PATCH', path, body, { 'Idempotency-Key': randomUUID() });
  }

  private async untilAnswered(
    kind: Kind,
    method: string,
    path: string,
    body: object | undefined,
    headers: Record<string, string>,
  ): Promise<Answer> {
    const startedAt = performance.now();
    for (;;) {
      const answer = await this.once(kind, method, path, body, headers);
      const elapsedMs = performance.now() - startedAt;
      if (answer !== undefined && !isLater(answer)) {
        this.figures.answered(kind, elapsedMs);
        return answer;
      }
      if (elapsedMs > giveUpMs) {
        throw new Error(
          `${method} ${path} had no answer within ${giveUpMs / 1000} s: ${JSON.stringify(answer ?? 'broken connections')}`,
        );
      }
      await sleep(pauseMs);
    }
  }

  private async once(kind: Kind, ...request: Parameters<Client['send']>): Promise<Answer | undefined> {
    const sentAt = performance.now();
    const answer = await this.send(...request);
    this.figures.tried(kind, performance.now() - sentAt, answer?.status);
    return answer;
  }

  /**
   * Sends a request, and repeats nothing.
   * @returns undefined when the connection broke: the outcome is unknown
   */
  async send(
    method: string,
    path: string,
    body: object | undefined,
    headers: Record<string, string> = {},
  ): Promise<Answer | undefined> {
    try {
      const response = await fetch(this.baseUrl + path, {
        method,
        headers: {
          ...(this.cookie !== undefined && { cookie: this.cookie }),
          ...(body !== undefined && { 'content-type': 'application/json', ...headers }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(answerLimitMs),
      });
      const answer = { status: response.status, body: (await response.json()) as Answer['body'] };
      const sid = response.headers.getSetCookie().find((line) => line.startsWith('sid='));
      if (sid !== undefined) this.cookie = sid.split(';')[0];
      return answer;
    } catch {
      return undefined;
    }
  }
}

/** The answers after which the same request is worth sending again (README: errors). */
function isLater({ status, body }: Answer): boolean {
  return status >= 500 || status === 429 || body['error'] === 'idempotency_in_progress';
}
