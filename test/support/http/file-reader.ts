import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { until } from '../until.js';

/** A client that asks for a file, and takes of it what the test lets it take. */
export class FileReader {
  receivedBytes = 0;
  closed = false;
  #head = '';
  #isOpen = false;
  readonly socket: Socket;

  /** @param header who asks, as a line of the request */
  constructor(url: string, path: string, header: string) {
    const { port } = new URL(url);
    this.socket = connect(Number(port), '127.0.0.1');
    this.socket.on('error', () => undefined).on('close', () => (this.closed = true));
    this.socket.on('data', (chunk: Buffer) => {
      this.receivedBytes += chunk.length;
      if (this.#head.length < 20) this.#head += chunk.toString('latin1');
      if (!this.#isOpen) this.socket.pause();
    });
    this.socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n${header}\r\nConnection: close\r\n\r\n`);
  }

  /** Waits for the beginning, of which it takes one piece. @returns its status */
  async begun(): Promise<number> {
    return until(
      'the answer has begun',
      () => Number(/^HTTP\/1\.1 (\d+)/.exec(this.#head)?.[1]) || undefined,
    );
  }

  /** Takes what is there by so many bytes a second. */
  take(bytesPerSecond: number): void {
    let owed = 0;
    const timer = setInterval(() => {
      owed = Math.min(owed + bytesPerSecond / 20, bytesPerSecond);
      if (this.closed) clearInterval(timer);
      const chunk = this.socket.read(
        Math.min(Math.floor(owed), this.socket.readableLength || 1),
      ) as Buffer | null;
      owed -= chunk?.length ?? 0;
    }, 50).unref();
  }

  /** Takes all that still comes. */
  async rest(): Promise<number> {
    this.#isOpen = true;
    this.socket.resume();
    if (!this.closed) await once(this.socket, 'close');
    return this.receivedBytes;
  }
}
