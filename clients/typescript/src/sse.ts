/** A message of a stream, by the standard (HTML, "Server-sent events"). */
export interface SseMessage {
  /** The name of its event; `message` where it has none. */
  readonly event: string;
  readonly data: string;
  /** The id to go on from after it; undefined before the first. */
  readonly lastId: string | undefined;
}

/** A message that is longer than this is nothing that the service sends. */
const MESSAGE_MAX_LENGTH = 1_048_576;

/** Cuts the text of a stream into messages, wherever its pieces begin and end. */
export class SseParser {
  /** The id to go on from; undefined before the first. */
  lastId: string | undefined;
  /** How long to wait before connecting again, as the service asked last. */
  retryMs: number | undefined;
  #rest = '';
  #isFirst = true;
  #event = '';
  #data: string[] = [];
  #id: string | undefined;

  /**
   * Takes the next piece.
   * @returns the messages that it completes
   * @throws Error when a message does not end
   */
  feed(text: string): SseMessage[] {
    if (this.#isFirst && text !== '') {
      this.#isFirst = false;
      this.#rest = text.replace(/^\uFEFF/, '');
    } else {
      this.#rest += text;
    }
    const messages: SseMessage[] = [];
    for (let line = this.#takeLine(); line !== undefined; line = this.#takeLine()) {
      if (line !== '') this.#takeField(line);
      else messages.push(...this.#dispatch());
    }
    const length = this.#data.reduce((sum, line) => sum + line.length, this.#rest.length);
    if (length > MESSAGE_MAX_LENGTH) throw new Error('a message of the stream does not end');
    return messages;
  }

  /** A CR at the end of a piece may be half of a line break: it waits for what comes. */
  #takeLine(): string | undefined {
    const end = /\r\n|\n|\r(?!$)/.exec(this.#rest);
    if (!end) return undefined;
    const line = this.#rest.slice(0, end.index);
    this.#rest = this.#rest.slice(end.index + end[0].length);
    return line;
  }

  #takeField(line: string): void {
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'event') this.#event = value;
    else if (name === 'data') this.#data.push(value);
    else if (name === 'id' && !value.includes('\0')) this.#id = value;
    else if (name === 'retry' && /^\d{1,9}$/.test(value)) this.retryMs = Number(value);
  }

  #dispatch(): SseMessage[] {
    this.lastId = this.#id ?? this.lastId;
    const [event, data] = [this.#event, this.#data];
    this.#event = '';
    this.#data = [];
    if (data.length === 0) return [];
    return [{ event: event === '' ? 'message' : event, data: data.join('\n'), lastId: this.lastId }];
  }
}
