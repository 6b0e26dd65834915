import { ConnectionError } from './errors.js';
import { within } from './time.js';

/**
 * Hands the pieces of an answer on, each within the limit of silence.
 * @param failed makes the error of one that breaks off
 */
export function heard(
  body: ReadableStream<Uint8Array> | null | undefined,
  limits: { readonly silenceMs: number; readonly endsAt: number; readonly signal: AbortSignal | undefined },
  failed: (cause: unknown) => Error,
): ReadableStream<Uint8Array> {
  const reader = body?.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const ms = Math.max(1, Math.min(limits.silenceMs, limits.endsAt - Date.now()));
          const piece = await within(ms, limits.signal, () => reader?.read() ?? Promise.resolve(over));
          if (piece.done) controller.close();
          else controller.enqueue(piece.value);
        } catch (error) {
          // It failed already; what it says to that is nothing new.
          reader?.cancel(error).catch(() => undefined);
          throw limits.signal?.aborted === true || error instanceof ConnectionError ? error : failed(error);
        }
      },
      cancel: (reason) => reader?.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

const over = { done: true, value: undefined } as const;
