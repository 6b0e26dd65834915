import type { Duplex } from 'node:stream';
import type { Session } from './session.js';

/**
 * Takes client and server of a session apart without a word: nothing that one of them sends arrives any more, and neither
 * hears of the other's end.
 * @param onGivenUp is called once, when the client gives the connection up
 * @returns closes the connection that is really there
 */
export function silence({ client }: Session, onGivenUp: (error: Error) => void): () => void {
  const { stream } = (client as unknown as { connection: { stream: Duplex } }).connection;
  const close = stream.destroy.bind(stream);
  for (const name of ['data', 'end', 'error', 'close']) {
    stream.removeAllListeners(name);
    stream.on(name, () => undefined);
  }
  let isGivenUp = false;
  Object.assign(stream, {
    write: () => true,
    end: () => stream,
    destroy: (error: Error = new Error('Connection terminated unexpectedly')) => {
      if (!isGivenUp) onGivenUp(error);
      isGivenUp = true;
      return stream;
    },
  });
  return () => void close();
}
