import { errorOfAnswer, isApiError } from '../errors.js';
import type { CallOptions, Send, SendForFile, Transport } from '../transport.js';

/** The calls of one kind of thing. */
export abstract class Noun {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  protected get call(): Transport['call'] {
    return this.#transport.call.bind(this.#transport);
  }

  /** When a call that makes several requests ends, as `Date.now` tells it. */
  protected endOf(options: CallOptions | undefined): number {
    return Date.now() + this.#transport.callWithin(options);
  }

  /** Reads a file of any length whole. */
  protected async file(options: CallOptions | undefined, send: SendForFile): Promise<ArrayBuffer> {
    return this.#transport.takeIn(await this.#transport.file(options, send));
  }

  /** Hands a file of any length on in pieces. */
  protected get pieces(): Transport['pieces'] {
    return this.#transport.pieces.bind(this.#transport);
  }

  /** Reads a text of any length whole. */
  protected async text(options: CallOptions | undefined, send: SendForFile): Promise<string> {
    return this.#transport.takeIn(new TextDecoder().decode(await this.#transport.file(options, send)));
  }

  /** Removes something. Where an answer was lost and the repetition finds nothing, it is removed. */
  protected remove(options: CallOptions | undefined, send: Send<unknown>): Promise<void> {
    return this.end(404, options, send);
  }

  /**
   * Ends something. Where an answer was lost and the repetition is refused because it has ended, it has ended.
   * @param over the status of that refusal
   * @param send sends one request
   */
  protected async end(over: number, options: CallOptions | undefined, send: Send<unknown>): Promise<void> {
    let sent = 0;
    await this.#transport.call('same', options, async (api, init) => {
      sent += 1;
      const answer = await send(api, init);
      const { response, error } = answer;
      const hasEnded = sent > 1 && response.status === over && isApiError(errorOfAnswer(response, error));
      return hasEnded ? { response: new Response() } : answer;
    });
  }
}
