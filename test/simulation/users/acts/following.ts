import type { FeedEvent } from '../told.js';
import type { User } from '../user.js';

/** The most pages that are read at once. */
const PAGES_MAX = 40;

/** Reads the feed on from where it was left, until it does not move. */
export async function follow(user: User): Promise<void> {
  const { chance, told } = user.parts;
  const feed = told.feeds.get(user.email) ?? [];
  told.feeds.set(user.email, feed);
  const size = chance.pick([3, 20, 200]);
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const events = await readPage(user, seqOf(feed), size);
    // Twins that read the same page at once know its events already.
    for (const event of events) if (event.seq > seqOf(feed)) takeIn(user, feed, event);
    if (events.length === 0) return;
  }
}

function seqOf(feed: readonly FeedEvent[]): number {
  return feed.at(-1)?.seq ?? 0;
}

async function readPage(user: User, after: number, size: number): Promise<FeedEvent[]> {
  const path = `/v1/events?pageSize=${size}${after === 0 ? '' : `&after=${after}`}`;
  const answer = await user.ask('events', 'GET', path);
  return answer?.status === 200 ? (answer.body['events'] as FeedEvent[]) : [];
}

function takeIn(user: User, feed: FeedEvent[], event: FeedEvent): void {
  const { told } = user.parts;
  const before = seqOf(feed);
  if (event.seq !== before + 1)
    told.strange.push(`${user.email} was told event ${event.seq} after ${before}`);
  const owner = told.rentals.get(event.entityId)?.email ?? told.keys.get(event.entityId)?.email;
  if (owner !== undefined && owner !== user.email)
    told.strange.push(`${user.email} was told ${event.type} of ${event.entityId}, which is of ${owner}`);
  feed.push(event);
}
