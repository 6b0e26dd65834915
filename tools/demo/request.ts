import { StoryError } from './story-error.js';

/** Above the API's own deadline for an opening, which is 22 s. */
const answerLimitMs = 40_000;

/** One HTTP request with a time limit. @throws StoryError when nobody answers */
export async function request(url: string, init: RequestInit = {}): Promise<Response> {
  try {
    return await fetch(url, { ...init, signal: AbortSignal.timeout(answerLimitMs) });
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw new StoryError(
      `${url} does not answer (${cause instanceof Error ? cause.message : String(cause)}). ` +
        'See whether that part of the stack still runs: its log tells why it ended.',
      { cause: error },
    );
  }
}
