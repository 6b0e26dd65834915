import { isApiError, type StreamItem } from '@gpu-rental/client';
import { api } from '../data/client.js';

interface Holder {
  readonly userId: string;
  /** The newest event that is known; asked for at each new begin. */
  readonly lastSeq: () => number | undefined;
  readonly say: (item: StreamItem) => void;
  /** The service says that nobody is signed in. */
  readonly onRefused: () => void;
  /** The cookie is another user's by now. */
  readonly onOtherUser: () => void;
}

/** Between two streams of which the first was refused. */
const REFUSED_PAUSE_MS = 30_000;

/** Holds the stream until the signal ends it, and sees to it that what it says is of this user. */
export async function holdStream(holder: Holder, signal: AbortSignal): Promise<void> {
  const hasEnded = (): boolean => signal.aborted;
  while (!hasEnded()) {
    const again = new AbortController();
    const stopListening = wakeOn(() => again.abort());
    try {
      await follow(holder, AbortSignal.any([signal, again.signal]));
      return;
    } catch (error) {
      if (hasEnded()) return;
      if (isApiError(error, 'unauthorized')) holder.onRefused();
      if (!again.signal.aborted) {
        holder.say({ kind: 'reconnecting', delayMs: REFUSED_PAUSE_MS, error: asError(error) });
        await pause(REFUSED_PAUSE_MS, AbortSignal.any([signal, again.signal]));
      }
    } finally {
      stopListening();
    }
  }
}

/** The computer woke or has a network again: what a connection waits for then is over. */
function wakeOn(wake: () => void): () => void {
  addEventListener('online', wake);
  return () => removeEventListener('online', wake);
}

async function follow({ userId, lastSeq, say, onOtherUser }: Holder, signal: AbortSignal): Promise<void> {
  let isProven = false;
  for await (const item of api.events.stream({ after: lastSeq(), signal })) {
    if (item.kind === 'reconnecting') isProven = false;
    else if (!isProven) {
      // Asked after the stream began: while the answer is this user, so is the stream.
      const { user } = await api.auth.me({ signal });
      if (user.id !== userId) {
        onOtherUser();
        return;
      }
      isProven = true;
    }
    say(item);
  }
}

const asError = (cause: unknown): Error => (cause instanceof Error ? cause : new Error(String(cause)));

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
