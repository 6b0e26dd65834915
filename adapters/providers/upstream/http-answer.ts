import { createJsonListReader } from './json-list.js';

/** The most bytes of an answer that is read whole: all but lists. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed JSON; undefined when the body is not JSON. */
  readonly body: unknown;
}

/** A list in an answer, and how to read its elements. */
export interface ListReading<T> {
  /** The field of the answer that holds the list. */
  readonly name: string;
  /** Returns what is kept of an element; the rest of it is dropped at once. */
  readonly read: (element: unknown) => readonly T[];
  /** Ends the reading of the list once it returns true. */
  readonly isWanted?: (item: T) => boolean;
}

export interface ListAnswer<T> extends HttpAnswer {
  /** undefined when the answer has no such list, or is no success: an empty list is not the same. */
  readonly items: T[] | undefined;
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** Reads an answer of bounded size whole. */
export async function readWhole(response: Response): Promise<HttpAnswer> {
  return { status: response.status, headers: response.headers, body: parse(await readText(response)) };
}

/** Reads a list while it arrives, whatever its length; an answer that is no success is read whole. */
export async function readList<T>(
  response: Response,
  list: ListReading<T>,
  tellProgress: () => void,
): Promise<ListAnswer<T>> {
  if (!isSuccess(response.status)) return { ...(await readWhole(response)), items: undefined };
  const items = await readItems(response, list, tellProgress);
  return { status: response.status, headers: response.headers, body: undefined, items };
}

async function readItems<T>(
  response: Response,
  { name, read, isWanted }: ListReading<T>,
  tellProgress: () => void,
): Promise<T[] | undefined> {
  const items: T[] = [];
  const found = { isWanted: false };
  const reader = createJsonListReader(name, (element) => {
    for (const item of read(element)) {
      items.push(item);
      found.isWanted ||= isWanted?.(item) === true;
    }
  });
  for await (const chunk of chunksOf(response)) {
    tellProgress();
    reader.write(chunk);
    // Leaving the loop closes the connection.
    if (found.isWanted) return items;
  }
  return reader.end() ? items : undefined;
}

async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of chunksOf(response)) {
    bytes += chunk.byteLength;
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`the answer is larger than ${MAX_ANSWER_BYTES} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function chunksOf(response: Response): AsyncIterable<Uint8Array> {
  return (response.body ?? []) as AsyncIterable<Uint8Array>;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
