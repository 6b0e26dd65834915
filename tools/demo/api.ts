import { request } from './request.js';
import { StoryError } from './story-error.js';

/**
 * The service as a client calls it. Answers have the form that the API's documentation gives, so callers name their
 * type.
 */
export interface Api {
  /** @throws StoryError with the API's own code and message when it refuses */
  get(path: string): Promise<unknown>;
  post(path: string, body: object): Promise<unknown>;
  /** The session so far: the value of the cookie `sid`, with which another program can continue. */
  sid(): string | undefined;
}

/** A client that keeps the session cookie, as a browser does. */
export function createApi(baseUrl: string): Api {
  const session: { cookie: string | undefined } = { cookie: undefined };

  async function call(method: 'GET' | 'POST', path: string, body?: object): Promise<unknown> {
    const response = await request(`${baseUrl}${path}`, {
      method,
      headers: {
        ...(session.cookie !== undefined && { cookie: session.cookie }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const sid = response.headers.getSetCookie().find((line) => line.startsWith('sid='));
    if (sid !== undefined) session.cookie = sid.split(';')[0];
    const answer: unknown = await response.json();
    if (!response.ok) throw storyErrorOf(`${method} ${path}`, response.status, answer);
    return answer;
  }
  return {
    get: (path) => call('GET', path),
    post: (path, body) => call('POST', path, body),
    sid: () => session.cookie?.slice('sid='.length),
  };
}

function storyErrorOf(call: string, status: number, answer: unknown): StoryError {
  const { error, message, requestId } = answer as Readonly<Record<string, unknown>>;
  return new StoryError(
    `${call} was answered ${status} ${String(error)}: ${String(message)} ` +
      `Look for ${String(requestId)} in the API's log.`,
  );
}
