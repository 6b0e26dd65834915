import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { requestLimits } from '../../domain/requests/limits.js';

/**
 * The requests of each connection, one after the other. Clients may send the next ones before they have an answer, and
 * thousands of them fit into one write; no browser does. One that sends too many is cut (decision 130, "Work for
 * strangers").
 */
export class Pipelines {
  readonly #waiting = new WeakMap<Socket, (() => void)[]>();

  /** Handles a request when those before it on its connection are answered. */
  enter({ socket }: IncomingMessage, response: ServerResponse, handle: () => void): void {
    const begin = (): void => {
      response.once('close', () => this.#next(socket));
      handle();
    };
    const waiting = this.#waiting.get(socket);
    if (waiting === undefined) {
      this.#waiting.set(socket, []);
      begin();
    } else if (waiting.length < requestLimits.pipelined) waiting.push(begin);
    else socket.destroy();
  }

  #next(socket: Socket): void {
    const waiting = this.#waiting.get(socket);
    const begin = socket.destroyed ? undefined : waiting?.shift();
    if (begin === undefined) this.#waiting.delete(socket);
    else begin();
  }
}
