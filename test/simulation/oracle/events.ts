import type { Told } from '../users/told.js';
import { Erased } from './erased.js';
import { told, type Evidence } from './evidence.js';

interface EventRow {
  readonly id: string;
  readonly user_id: string;
  readonly seq: string;
  readonly type: string;
  readonly entity_id: string;
}

interface RentalRow {
  readonly id: string;
  readonly user_id: string;
  readonly status: string;
  readonly ran: boolean;
  readonly settled: boolean;
}

/** N5: each user's events are numbered without a gap, from 1, and tell what the user was told otherwise. */
export async function judgeEvents(evidence: Evidence): Promise<string[]> {
  const { ask, told: said } = evidence;
  const erased = await Erased.read(evidence);
  const gaps = await ask<{ user_id: string; count: string; top: string }>(
    `select user_id, count(*), max(seq) as top from events group by user_id having count(*) <> max(seq) or min(seq) <> 1`,
  );
  const events = await ask<EventRow>(
    `select id, user_id, seq, type, entity_id from events order by user_id, seq`,
  );
  const rentals = await ask<RentalRow>(
    `select id, user_id, status, running_at is not null as ran, settled_at is not null as settled
       from rentals order by no`,
  );
  return [
    ...erased
      .without(gaps)
      .map(({ user_id, count, top }) => `the events of ${user_id}: ${count}, numbered up to ${top}`),
    ...erased.without(rentals).flatMap((rental) => judgeStory(rental, events)),
    ...judgeTold(said, events, erased),
    ...judgeFeeds(said, events, erased),
  ];
}

/** Each turn of a rental is told once, to its owner alone, in an order that can be. */
function judgeStory(rental: RentalRow, events: readonly EventRow[]): string[] {
  const own = events.filter(({ entity_id: id }) => id === rental.id);
  const count = (type: string): number => own.filter((event) => event.type === type).length;
  const [last] = own.filter(({ type }) => /^rental\.(stopped|failed)$/.test(type));
  const order = ['rental.created', 'rental.running', 'rental.stopping', 'rental.stopped'];
  const places = own.map(({ type }) => order.indexOf(type)).filter((place) => place >= 0);
  const final = rental.status === 'failed' ? 'rental.failed' : 'rental.stopped';
  const faults = [
    ...told(
      own.some(({ user_id: id }) => id !== rental.user_id),
      'is told to somebody else',
    ),
    ...told(count('rental.created') !== 1, `is told to be created ${count('rental.created')} times`),
    ...told(
      count('rental.running') !== Number(rental.ran),
      `is told to run ${count('rental.running')} times`,
    ),
    ...told(
      rental.settled && count(final) !== 1,
      `is ${rental.status}, and that is told ${count(final)} times`,
    ),
    ...told(!rental.settled && last !== undefined, `is not settled, and ${String(last?.type)} is told`),
    ...told(
      places.some((place, index) => place < (places[index - 1] ?? 0)),
      `is told as ${own.map(({ type }) => type).join()}`,
    ),
  ];
  return faults.map((fault) => `${rental.id} ${fault}`);
}

/** What a user was answered with 200 is told by their feed as well. */
function judgeTold(said: Told, events: readonly EventRow[], erased: Erased): string[] {
  const made = [
    ...[...said.rentals.values()].map(({ rentalId: id, email }) => ({ id, email, type: 'rental.created' })),
    ...[...said.keys.values()].flatMap(({ id, email, revokedMs }) => [
      { id, email, type: 'api_key.created' },
      ...(revokedMs === undefined ? [] : [{ id, email, type: 'api_key.revoked' }]),
    ]),
    ...said.hooks.flatMap(({ id, email, removedMs }) => [
      { id, email, type: 'webhook.created' },
      ...(removedMs === undefined ? [] : [{ id, email, type: 'webhook.removed' }]),
    ]),
    ...said.changes.flatMap(({ rentalId: id, answer }) => {
      const email = said.rentals.get(id)?.email;
      return answer === undefined || email === undefined ? [] : [{ id, email, type: 'rental.changed' }];
    }),
  ];
  return made
    .filter(({ email }) => !erased.hasEmail(email))
    .filter(({ id, email, type }) => {
      const userId = said.users.get(email);
      return !events.some((one) => one.entity_id === id && one.type === type && one.user_id === userId);
    })
    .map(({ id, email, type }) => `${email} was never told ${type} of ${id}`);
}

/** What was read of a feed is what stands there now: no event changes, and none comes between. */
function judgeFeeds(said: Told, events: readonly EventRow[], erased: Erased): string[] {
  const living = [...said.feeds].filter(([email]) => !erased.hasEmail(email));
  return living.flatMap(([email, feed]) => {
    const own = events.filter(({ user_id: id }) => id === said.users.get(email));
    const differing = feed.find(({ id, seq, type }) => {
      const now = own[seq - 1];
      return now?.id !== id || now.type !== type;
    });
    return told(differing !== undefined, `${email} read an event ${differing?.seq} that is another now`);
  });
}
