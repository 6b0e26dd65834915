import type { StreamItem } from '@gpu-rental/client';
import type { LiveState } from './store.js';

/** What the tabs of one browser tell each other. Each message names the user whom it is about. */
export type TabMessage = { readonly userId: string } & TabNews;

export type TabNews =
  /** Somebody came, or came back: the tab that holds the stream answers with `state`. */
  | { readonly kind: 'hello' }
  | { readonly kind: 'state'; readonly state: SharedState }
  /** The stream said this. */
  | { readonly kind: 'item'; readonly item: StreamItem; readonly receivedAtMs: number }
  | { readonly kind: 'connection'; readonly isLive: boolean }
  | { readonly kind: SessionNews };

/** `signing-out` comes before the service hears of it: a refusal that is faster than its answer is no session's end. */
export type SessionNews = 'signed-in' | 'signing-out' | 'signed-out';

/** What a tab needs to know to go on from where another one is. */
export type SharedState = Pick<LiveState, 'lastSeq' | 'balance' | 'meters'> & { readonly isLive: boolean };

const NAME = 'gpu-rental';

/** One end of the channel between the tabs. A tab does not hear itself. */
export class TabChannel {
  readonly #channel = 'BroadcastChannel' in globalThis ? new BroadcastChannel(NAME) : undefined;

  hear(listener: (message: TabMessage) => void): void {
    this.#channel?.addEventListener('message', ({ data }: MessageEvent<TabMessage>) => listener(data));
  }

  tell(userId: string, news: TabNews): void {
    this.#channel?.postMessage({ ...news, userId } satisfies TabMessage);
  }

  close(): void {
    this.#channel?.close();
  }
}

/** Tells the other tabs, and this one, that somebody signs in or out. */
export function tellTabs(userId: string, kind: SessionNews): void {
  const channel = new TabChannel();
  channel.tell(userId, { kind });
  channel.close();
}
