import { meterAfter } from '@gpu-rental/client';
import type { Event, LiveBalance, LiveMeter, Rental, StreamItem } from '@gpu-rental/client';
import { shortId } from '../views/rental.js';

/** What a watched machine shows. */
export interface Row {
  readonly id: string;
  readonly name: string | null;
  /** "8 x H100"; empty until it is known. */
  readonly gpus: string;
  readonly state: string;
  readonly isRunning: boolean;
  /** Seconds; undefined while it does not run. */
  readonly ranSeconds: number | undefined;
  readonly costCents: number;
  readonly pricePerHourCents: number;
}

/** What is seen at one moment. */
export interface Seen {
  /** The whole wallet, with what is held. */
  readonly walletCents: number | undefined;
  readonly burnPerHourCents: number;
  /** undefined while nothing runs. */
  readonly lastsSeconds: number | undefined;
  readonly rows: readonly Row[];
  readonly connection: 'connecting' | 'live' | 'cut';
}

interface KnownRental {
  readonly name: string | null;
  readonly gpus: string;
  readonly state: string;
}

/** The latest figures of a stream, and what the clock makes of them between two messages. */
export class LiveState {
  readonly #rentals = new Map<string, KnownRental>();
  readonly #meters = new Map<string, LiveMeter>();
  #balance: Pick<LiveBalance, 'totalCents' | 'readAt'> | undefined;
  #connection: Seen['connection'] = 'connecting';

  /** @param clockOffsetMs what must be added to this machine's clock to get the service's */
  #clockOffsetMs = 0;

  /** Takes in the rentals as they were read: names and kinds are in no stream. */
  setRentals(
    rentals: readonly Pick<
      Rental,
      | 'id'
      | 'name'
      | 'gpuCount'
      | 'model'
      | 'status'
      | 'phase'
      | 'pricePerHourCents'
      | 'totalChargedCents'
      | 'runningAt'
      | 'stoppedAt'
    >[],
    nowMs: number,
  ): void {
    for (const rental of rentals) {
      this.#rentals.set(rental.id, {
        name: rental.name,
        gpus: `${rental.gpuCount} x ${rental.model.replaceAll('_', ' ')}`,
        state: rental.status === 'provisioning' ? (rental.phase ?? 'starting') : rental.status,
      });
      // A meter that the stream told is newer than a page that was read.
      if (this.#meters.has(rental.id)) continue;
      this.#meters.set(rental.id, {
        ...{ rentalId: rental.id, status: rental.status, pricePerHourCents: rental.pricePerHourCents },
        ...{ chargedCents: rental.totalChargedCents, holdCents: 0, runningAt: rental.runningAt },
        ...{ endedAt: rental.stoppedAt, readAt: new Date(nowMs + this.#clockOffsetMs).toISOString() },
      });
    }
  }

  setBalance(balance: Pick<LiveBalance, 'totalCents' | 'readAt'>): void {
    this.#balance = balance;
  }

  /** Takes in what the stream told. */
  take(item: StreamItem, nowMs: number): void {
    if (item.kind === 'balance') {
      this.#balance = item.balance;
      this.#setClock(item.balance.readAt, nowMs);
    } else if (item.kind === 'meter') {
      this.#meters.set(item.meter.rentalId, item.meter);
      this.#setClock(item.meter.readAt, nowMs);
    } else if (item.kind === 'reconnecting') this.#connection = 'cut';
    else this.#connection = 'live';
    if (item.kind === 'event') this.#endBy(item.event);
    // What ended meanwhile, nothing tells: what runs is read anew.
    else if (item.kind === 'resync') this.#meters.clear();
  }

  #endBy(event: Event): void {
    const meter = this.#meters.get(event.entityId);
    if (meter) this.#meters.set(event.entityId, meterAfter(event, meter));
  }

  /** What is to be seen now. */
  seen(nowMs: number): Seen {
    const serverMs = nowMs + this.#clockOffsetMs;
    const meters = [...this.#meters.values()];
    const running = meters.filter(isRunning);
    const burnPerHourCents = running.reduce((sum, { pricePerHourCents }) => sum + pricePerHourCents, 0);
    const accrued = running.reduce((sum, meter) => sum + costAt(meter, serverMs) - meter.chargedCents, 0);
    const walletCents =
      this.#balance === undefined ? undefined : Math.max(0, this.#balance.totalCents - accrued);
    return {
      walletCents,
      burnPerHourCents,
      lastsSeconds:
        walletCents === undefined || burnPerHourCents === 0
          ? undefined
          : (walletCents / burnPerHourCents) * 3_600,
      rows: meters.map((meter) => this.#rowOf(meter, serverMs)).toSorted(byStart),
      connection: this.#connection,
    };
  }

  #rowOf(meter: LiveMeter, serverMs: number): Row {
    const { name, gpus, state } = this.#rentals.get(meter.rentalId) ?? unknown;
    return {
      ...{ id: meter.rentalId, name, gpus },
      state: meter.status === 'provisioning' ? state : meter.status,
      isRunning: isRunning(meter),
      ranSeconds: ranSeconds(meter, serverMs),
      costCents: costAt(meter, serverMs),
      pricePerHourCents: meter.pricePerHourCents,
    };
  }

  #setClock(readAt: string, nowMs: number): void {
    this.#clockOffsetMs = Date.parse(readAt) - nowMs;
  }
}

/** A machine that the stream told of before it was read. */
const unknown: KnownRental = { name: null, gpus: '', state: 'starting' };

function ranSeconds({ runningAt, endedAt }: LiveMeter, serverMs: number): number | undefined {
  if (runningAt === null) return undefined;
  const untilMs = endedAt === null ? serverMs : Date.parse(endedAt);
  return Math.max(0, (untilMs - Date.parse(runningAt)) / 1_000);
}

function isRunning({ status, runningAt, endedAt }: LiveMeter): boolean {
  return status === 'running' && runningAt !== null && endedAt === null;
}

/** Never less than was charged: what the clock says may lag behind it. */
function costAt(meter: LiveMeter, serverMs: number): number {
  if (!isRunning(meter) || meter.runningAt === null) return meter.chargedCents;
  const elapsedMs = Math.max(0, serverMs - Date.parse(meter.runningAt));
  return Math.max(meter.chargedCents, Math.floor((meter.pricePerHourCents * elapsedMs) / 3_600_000));
}

function byStart(a: Row, b: Row): number {
  return a.id < b.id ? 1 : -1;
}

const eventWords: Readonly<Record<string, string>> = {
  'rental.created': 'was rented',
  'rental.machine_found': 'has a machine',
  'rental.ssh_answered': 'answers over SSH',
  'rental.running': 'is ready, and billing starts',
  'rental.ports_closed': 'is being stopped: we closed its public ports',
  'rental.changed': 'was changed',
  'rental.stopping': 'is being stopped',
  'rental.stopped': 'was stopped',
  'rental.failed': 'did not start; you were not charged',
  'wallet.low': 'Your balance lasts less than an hour: gpu pay',
  'wallet.exhausted': 'Your balance ran out',
  'wallet.credited': 'Money was added',
  'topup.succeeded': 'A payment has succeeded',
  'topup.failed': 'A payment has failed',
  'topup.reversed': 'A payment was refunded, or your bank took it back: gpu invoices',
  'topup.reinstated': 'A payment that was taken back was reinstated',
  'auto_topup.switched_off': 'Automatic top-ups were turned off',
  'invoice.opened': 'You have an invoice to pay: gpu invoices',
  'invoice.paid': 'An invoice was paid',
};

const warningWords: Readonly<Record<string, string>> = {
  ssh_unreachable: 'does not answer over SSH',
  host_key_changed: 'has another host key',
  auto_stop_near: 'stops soon: it is near its time limit',
  spend_limit_near: 'stops soon: it is near its spending limit',
  upstream_end_near: 'stops soon: its provider takes it back',
  idle_stop_near: 'is idle and stops soon, unless you use it: gpu keep-alive',
};

/** An event as a line for people; undefined for those that nobody waits for. */
export function sentenceOf({ type, entityId, data }: Event): string | undefined {
  if (type === 'rental.warned') {
    const { warning } = data;
    return `${shortId(entityId)} ${warningWords[warning] ?? warning}`;
  }
  if (type === 'budget.reached') return `You have spent ${data.percent}% of the month's budget: gpu budget`;
  const words = eventWords[type];
  if (words === undefined) return undefined;
  return type.startsWith('rental.') ? `${shortId(entityId)} ${words}` : words;
}
