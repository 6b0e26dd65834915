import { Wishes } from './wishes.js';

const CHANNEL = 'gpu-rental:wishes';
/** A tab that runs answers at once, one in the background of a busy machine within a moment. */
const ANSWER_WITHIN_MS = 1_500;

type Message = { readonly asks: string } | { readonly has: string };

const openChannel = (): BroadcastChannel | undefined =>
  'BroadcastChannel' in globalThis ? new BroadcastChannel(CHANNEL) : undefined;

/** The open wishes of this tab. */
export const wishes = new Wishes({
  storage: () => sessionStorage,
  now: Date.now,
  isAnothers: askTabs,
});

const answering = openChannel();
answering?.addEventListener('message', ({ data }: MessageEvent<Message>) => {
  if ('asks' in data && wishes.has(data.asks)) answering.postMessage({ has: data.asks } satisfies Message);
});

function askTabs(key: string): Promise<boolean> {
  const channel = openChannel();
  if (!channel) return Promise.resolve(false);
  return new Promise<boolean>((resolve) => {
    channel.addEventListener('message', ({ data }: MessageEvent<Message>) => {
      if ('has' in data && data.has === key) resolve(true);
    });
    setTimeout(() => resolve(false), ANSWER_WITHIN_MS);
    channel.postMessage({ asks: key } satisfies Message);
  }).finally(() => channel.close());
}
