import { JSONParser } from '@streamparser/json';

/** The most that one element of a list may take, in bytes: a machine with the longest startup script is well under it. */
const MAX_ELEMENT_BYTES = 4 * 1024 * 1024;
/** No account of ours has this many of anything: a longer list is an error. */
const MAX_ELEMENTS = 500_000;
/** The most bytes of an answer without elements that is read whole, to tell an empty list from none. */
const MAX_EMPTY_BYTES = 1024 * 1024;

/** The answer is no readable list: no JSON, cut off, or beyond a limit. */
export class MalformedListError extends Error {
  override readonly name = 'MalformedListError';
}

/** Reads a list in pieces. */
export interface JsonListReader {
  /** Reads the next piece. @throws MalformedListError */
  write(chunk: Uint8Array): void;
  /**
   * Ends the reading, after the last piece.
   * @returns the list was there, be it empty
   * @throws MalformedListError for one that broke off
   */
  end(): boolean;
}

/**
 * Reads the elements of `{"<name>": [ … ]}` while the answer still arrives. However long the list is, memory holds at
 * most one element and one piece of the answer (decision 75, "Long upstream lists").
 * @param take gets each element, in order
 */
export function createJsonListReader(name: string, take: (element: unknown) => void): JsonListReader {
  const parser = new JSONParser({ paths: [`$.${name}.*`], keepStack: false, stringBufferSize: 64 * 1024 });
  const empty = { chunks: [] as Uint8Array[], bytes: 0 };
  let elements = 0;
  let unfinishedBytes = 0;
  // A field of that name that is no list has no elements.
  let isList = false;
  parser.onValue = ({ parent, value }) => {
    isList ||= Array.isArray(parent);
    elements += 1;
    unfinishedBytes = 0;
    if (elements > MAX_ELEMENTS)
      throw new MalformedListError(`the list has more than ${MAX_ELEMENTS} elements`);
    take(value);
  };
  return {
    write(chunk) {
      unfinishedBytes += chunk.byteLength;
      if (elements === 0 && empty.bytes <= MAX_EMPTY_BYTES) {
        empty.bytes += chunk.byteLength;
        empty.chunks.push(chunk);
      }
      asList(() => parser.write(chunk));
      if (elements > 0) empty.chunks.length = 0;
      if (unfinishedBytes > MAX_ELEMENT_BYTES) {
        throw new MalformedListError(`an element of the list is larger than ${MAX_ELEMENT_BYTES} bytes`);
      }
    },
    end() {
      if (!parser.isEnded) asList(() => parser.end());
      return elements > 0 ? isList : asList(() => isEmptyList(empty, name));
    },
  };
}

function asList<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof MalformedListError) throw error;
    throw new MalformedListError(`it is no JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function isEmptyList(
  { chunks, bytes }: { chunks: readonly Uint8Array[]; bytes: number },
  name: string,
): boolean {
  if (bytes > MAX_EMPTY_BYTES) return false;
  const body = JSON.parse(Buffer.concat(chunks).toString()) as unknown;
  return typeof body === 'object' && body !== null && Array.isArray((body as Record<string, unknown>)[name]);
}
