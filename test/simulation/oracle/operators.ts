import type { ToldPause } from '../users/told.js';
import { told, type Evidence } from './evidence.js';

/** What is under way when something is held up may still end: an opening that is asked for, one go of an endpoint. */
const UNDER_WAY_MS = 45_000;

/** Decisions 37, 23 and 87: what operators hold up does not happen meanwhile, and what they order happens once. */
export async function judgeOperators(evidence: Evidence): Promise<string[]> {
  const { ask, told: said, machines } = evidence;
  const opened = await ask<Happened>(
    `select id as what, user_id, extract(epoch from started_at) * 1000 as at_ms from rentals`,
  );
  // What a failed machine is charged and given back at once is no metering (decision 27).
  const charged = await ask<Happened>(
    `select distinct 'a charge' as what, '' as user_id, extract(epoch from e.created_at) * 1000 as at_ms
       from seen_entries e join rentals r on r.no = e.rental_no
      where e.type = 'rental_charge' and r.status <> 'failed'`,
  );
  const given = await ask<{ id: string; user_id: string; cents: string; entries: string }>(
    `select w.user_id as id, w.user_id, sum(e.amount_cents) as cents, count(*) as entries
       from seen_entries e join wallets w on w.id = e.wallet_id
      where e.type = 'refund' and e.rental_no is null group by w.user_id`,
  );
  const sent = said.hooks.flatMap(({ id, receiver }) =>
    receiver.receipts.map(({ atMs }) => ({ what: `a message to ${id}`, user_id: '', at_ms: atMs })),
  );
  const bought = (code: string): Happened[] =>
    machines
      .filter(({ provider }) => provider === code)
      .map(({ podId, boughtMs }) => ({ what: podId, user_id: '', at_ms: boughtMs }));
  const heldUp = ({ action }: ToldPause): readonly Happened[] => {
    switch (action.kind) {
      case 'pause':
        return { creates: opened, metering: charged, webhooks: sent, charges: [] }[action.brake];
      case 'pause_provider':
        return bought(action.providerCode);
      case 'block_user':
        return opened.filter(({ user_id: id }) => id === action.userId);
    }
  };
  const users = [...new Set(said.orders.map(({ userId }) => userId))];
  return [
    ...said.pauses.flatMap((pause) => heldUp(pause).flatMap((one) => judgePause(pause, one))),
    ...users.flatMap((userId) => {
      const orders = said.orders.filter((order) => order.userId === userId);
      const most = orders.reduce((sum, { amountCents }) => sum + amountCents, 0);
      const least = orders.reduce((sum, { amountCents, isDone }) => sum + (isDone ? amountCents : 0), 0);
      const cents = Number(given.find(({ user_id: id }) => id === userId)?.cents ?? 0);
      return told(cents < least || cents > most, `${userId} was given ${cents}, and not ${least} to ${most}`);
    }),
  ];
}

interface Happened {
  readonly what: string;
  readonly user_id: string;
  readonly at_ms: string | number;
}

function judgePause({ action, heldMs = Infinity, endingMs = -Infinity }: ToldPause, one: Happened): string[] {
  const atMs = Number(one.at_ms);
  const isMeanwhile = atMs > heldMs + UNDER_WAY_MS && atMs < endingMs;
  return told(isMeanwhile, `${one.what} happened ${atMs - heldMs} ms after ${JSON.stringify(action)}`);
}
