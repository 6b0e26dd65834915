import type { RentalId, UserId } from '../../../domain/ids.js';
import { fieldsOf } from '../../../domain/rentals/changes.js';
import type { RentalStatus } from '../../../domain/rentals/rental.js';
import type { Database } from '../database.js';
import { listAttempts } from '../machines/attempts.js';
import { listGiven } from '../operators/order-items.js';
import type { AllocationAttemptRow, PodRow, RentalChangeRow, RentalRow } from '../rows/tables.js';

export interface RentalFilter {
  readonly userId?: UserId | undefined;
  readonly status?: RentalStatus | undefined;
  readonly providerCode?: string | undefined;
  /** Only rentals to which something is still owed: they run, end, or their machine is not gone. */
  readonly open?: boolean | undefined;
}

/** Lists rentals of all users, newest first. */
export async function listAllRentals(
  db: Database,
  filter: RentalFilter,
  limit: number,
): Promise<RentalRow[]> {
  const query = db('rentals_now').orderBy('no', 'desc').limit(limit);
  if (filter.userId !== undefined) void query.where({ user_id: filter.userId });
  if (filter.status !== undefined) void query.where({ status: filter.status });
  if (filter.providerCode !== undefined) void query.where({ provider_code: filter.providerCode });
  if (filter.open === true) void query.whereNull('closed_at');
  return query;
}

/** Something that happened to a rental. */
export interface Happening {
  readonly at: Date;
  readonly what: string;
}

export interface RentalHistory {
  readonly rental: RentalRow;
  readonly attempts: readonly AllocationAttemptRow[];
  readonly pods: readonly PodRow[];
  /** Oldest first. */
  readonly timeline: readonly Happening[];
}

/**
 * Reads all that is known of a rental, in order.
 * @returns undefined when there is no such rental
 */
export async function readRentalHistory(db: Database, id: RentalId): Promise<RentalHistory | undefined> {
  const rental = await db('rentals_now').where({ id }).first();
  if (!rental) return undefined;
  const attempts = await listAttempts(db, id);
  const pods = await db('pods').whereIn(
    'tag',
    attempts.map(({ tag }) => tag),
  );
  const others = await Promise.all([
    stopsOf(db, rental),
    actionsOn(db, id),
    intentsOf(db, rental),
    refundsOf(db, rental),
    changesOf(db, rental),
  ]);
  // At the same instant, a request comes before its result.
  const timeline = [
    ...others.flat(),
    ...attempts.flatMap(asked),
    ...pods.flatMap(seen),
    ...milestones(rental),
  ];
  return { rental, attempts, pods, timeline: timeline.sort((a, b) => a.at.getTime() - b.at.getTime()) };
}

type Maybe = readonly [at: Date | null, what: string];

function happened(maybes: readonly Maybe[]): Happening[] {
  return maybes.flatMap(([at, what]) => (at === null ? [] : [{ at, what }]));
}

function milestones(rental: RentalRow): Happening[] {
  const { started_at: startedAt, running_at: runningAt, ended_at: endedAt, settled_at: settledAt } = rental;
  const ended = rental.stop_reason ?? rental.error ?? '';
  return happened([
    [startedAt, `opened: ${rental.price_per_hour_cents} cents held for the first hour`],
    [runningAt, `running: the SSH daemon answered, billing began`],
    [endedAt, `billing ended: ${ended}`],
    [settledAt, `settled: ${rental.charged_cents} cents charged, ${rental.refunded_cents} refunded`],
    [rental.terminated_at, 'terminated: the upstream showed its machines gone'],
    [rental.closed_at, `closed as ${rental.status}`],
  ]);
}

function asked(attempt: AllocationAttemptRow): Happening[] {
  const { attempt: number, provider_code: code, offer_id: offer, state, error } = attempt;
  const isOver = attempt.changed_at.getTime() !== attempt.created_at.getTime();
  return happened([
    [
      attempt.created_at,
      `attempt ${number}: ${code} was asked for ${offer} at ${attempt.price_per_hour_cents} cents/h`,
    ],
    [
      isOver ? attempt.changed_at : null,
      `attempt ${number} is ${state}${error === null ? '' : `: ${error}`}`,
    ],
  ]);
}

function seen(pod: PodRow): Happening[] {
  const name = `machine ${pod.provider_code} ${pod.pod_id}`;
  return happened([
    [pod.first_seen_at, `${name} was listed`],
    [pod.last_alive_at, `${name} was last seen alive`],
    [pod.held_since, `${name} is held: not listed`],
    [pod.gone_at, `${name} is gone`],
  ]);
}

async function stopsOf(db: Database, rental: RentalRow): Promise<Happening[]> {
  const stop = await db('stop_requests').where({ rental_no: rental.no }).first();
  if (!stop) return [];
  const why = stop.reason === null ? '' : `: ${stop.reason}`;
  return [{ at: stop.requested_at, what: `a stop was asked for by ${stop.requested_by}${why}` }];
}

async function changesOf(db: Database, { no }: RentalRow): Promise<Happening[]> {
  const changes = await db('rental_changes').where({ rental_no: no }).orderBy('asked_at');
  return changes.flatMap((change) =>
    happened([
      [change.asked_at, `a change was asked for: ${fieldsOf(change.asked).join(', ')} (${change.id})`],
      [change.limits_at, `its limits were changed: ${limitsText(change)} (${change.id})`],
      [
        change.refused && change.answered_at,
        `the change was refused: ${change.refused?.code} (${change.id})`,
      ],
    ]),
  );
}

function limitsText(change: RentalChangeRow): string {
  const money = (cents: number | null) => (cents === null ? 'none' : `${cents} cents`);
  const time = (at: Date | null) => at?.toISOString() ?? 'none';
  return (
    `spend limit ${money(change.was_max_spend_cents)} to ${money(change.new_max_spend_cents)}, ` +
    `auto-stop ${time(change.was_auto_stop_at)} to ${time(change.new_auto_stop_at)}`
  );
}

async function actionsOn(db: Database, id: RentalId): Promise<Happening[]> {
  const actions = await db('operator_actions').whereRaw(`request ->> 'rentalId' = ?`, [id]);
  return actions.map((action) => ({
    at: action.done_at,
    what: `${action.kind} by ${action.operator}: ${action.reason} (${action.id})`,
  }));
}

async function refundsOf(db: Database, rental: RentalRow): Promise<Happening[]> {
  const given = await listGiven(db, rental.no);
  return given.map(({ at, cents, operationId }) => ({
    at,
    what: `${cents} cents were given back by an order of many (${operationId})`,
  }));
}

async function intentsOf(db: Database, rental: RentalRow): Promise<Happening[]> {
  const intents = await db('intents').where({ rental_no: rental.no });
  return intents.flatMap((intent) =>
    happened([
      [intent.created_at, `metering or the watcher left ${intent.kind}`],
      [intent.delivered_at, `${intent.kind} was delivered to its workflow`],
    ]),
  );
}
