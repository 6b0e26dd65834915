import { randomBytes } from 'node:crypto';
import { billedOf, limitsOf, seenOf } from '../../adapters/postgres/rentals/facts.js';
import type { RentalWithHealth } from '../../adapters/postgres/rentals/rental-reads.js';
import type { ListingRow } from '../../adapters/postgres/rows/tables.js';
import { newId } from '../../adapters/ids.js';
import { DAY } from '../../domain/durations.js';
import { mayBeFree, type FreeMachines } from '../../domain/rentals/free-machines.js';
import { limitsAtStart } from '../../domain/rentals/changes.js';
import { rentalLimits } from '../../domain/rentals/limits.js';
import { isUsed } from '../../domain/rentals/rental.js';
import { asksForUse } from '../../domain/rentals/idle-guard.js';
import { noWords, wordsOf } from '../../domain/rentals/words.js';
import { endOfLost } from '../../domain/rentals/settlement.js';
import { limitOfMachine, refuseOpening, type Renter } from '../../domain/rentals/open.js';
import type { RentalRequest } from '../../domain/rentals/request.js';
import { isOwed } from '../../domain/payments/invoices.js';
import type { Account, MockRental, RentalFate } from './account.js';
import { findCheapest, unavailable } from './offers.js';
import type { MachineAddress, MachineParts } from './machines.js';
import { meter } from './meter.js';
import { queuedFacts, walkPhases } from './phases.js';
import { failWithFullRefund, settle } from './settle.js';
import { potsOf } from './spending.js';
import { keptGuard } from './telemetry.js';
import type { World } from './world.js';

type Request = RentalRequest;

/**
 * Opens a rental at the cheapest matching listing and holds an hour of it (spec: POST /v1/rentals).
 * @throws Refusal blocked, rate_limited, model_unavailable, insufficient_balance, cap_reserved, budget_reserved
 */
export function openRental(world: World, account: Account, request: Request, fate: RentalFate): MockRental {
  const { wallet } = account;
  refuseOpening(readRenter(world, account), readFreeMachines(world, account), rentalLimits.freeMachines);
  const listing = findCheapest(world, request);
  if (!listing) throw unavailable(world, request);
  const requiredCents = listing.price_per_hour_cents;
  const pots = potsOf(world, account, request.apiKeyId);
  const { availableCents } = wallet;
  const maxSpendCents = limitOfMachine(request, requiredCents, { availableCents, pots });
  wallet.hold(requiredCents);
  const limited = { ...request, maxSpendCents };
  const rental: MockRental = {
    ...{ row: newRow(world, account, limited, listing), fate },
    ...{ lastTickAt: null, judgedMs: 0, warned: new Set() },
  };
  account.rentals.push(rental);
  if (request.apiKeyId !== undefined) world.events.isOfKey(rental.row.id, request.apiKeyId);
  walkPhases(world, rental.row);
  if (fate !== 'fails') world.machines?.begin(rental.row.id, partsOf(account, request, listing));
  world.events.tell(account.user.id, 'rental.created', rental.row.id, {
    ...{ familyId: listing.family, gpuCount: listing.gpu_count, region: listing.region },
    ...{ pricePerHourCents: requiredCents, holdCents: requiredCents },
  });
  const providerCode = listing.provider_code;
  world.events.tell(account.user.id, 'rental.machine_found', rental.row.id, { providerCode });
  world.after(world.durations.provisionMs, () => comeUp(world, account, rental));
  return rental;
}

/** The machine that a request and its listing come to. */
function partsOf({ sshKeys }: Account, request: Request, listing: ListingRow): MachineParts {
  const stored = sshKeys.filter(({ id }) => request.sshKeyIds.includes(id));
  return {
    keys: [...stored.map((key) => key.public_key), ...(request.sshPublicKeys ?? [])],
    gpu: {
      vramGb: listing.vram_gb,
      productName: `NVIDIA ${listing.model.replaceAll('_', ' ')}`,
      memoryMib: listing.vram_gb * 1_024,
    },
    gpuCount: listing.gpu_count,
  };
}

/** The facts of an account that may keep it from renting. There are no operators here. */
export function readRenter(world: World, { rentals, invoices, closingSince }: Account): Renter {
  const overdue = invoices.find(({ row }) => isOwed(row) && (row.due_at ?? world.now()) < world.now());
  return {
    ...{
      isPaused: false,
      blockedReason: null,
      isClosing: closingSince !== undefined,
      overdueInvoiceId: overdue?.row.id ?? null,
    },
    liveRentals: rentals.filter(({ row }) => isUsed(row.status)).length,
  };
}

/** Nobody shares an account's bound here. */
function readFreeMachines(world: World, account: Account): FreeMachines {
  const at = world.now();
  const rows = account.rentals.map(({ row }) => row);
  const free = rows.filter((row) => mayBeFree(seenOf(row), at, rentalLimits.freeMachines));
  const machines = free.map((row) => ({
    ...{ pricePerHourCents: row.price_per_hour_cents, boughtAt: row.started_at },
    // Whoever is root of own software says when it answers, so it costs from when its upstream ran it.
    runningAt: (row.software && row.waiting?.machine_active_at) ?? row.running_at,
    ...{ endedAt: row.ended_at, goneAt: row.terminated_at, settledAt: row.settled_at, netCents: netOf(row) },
  }));
  const young = rows.filter(
    ({ settled_at: settledAt }) => settledAt === null || after(settledAt, 30 * DAY) > at,
  );
  return { at, machines, paidCents: young.reduce((sum, row) => sum + netOf(row), 0) };
}

function netOf(row: RentalWithHealth): number {
  return row.charged_cents - row.refunded_cents;
}

/** An image of the renter's own is entered by a key alone. */
function wantsSsh({ software, ssh_key_ids, own_ssh_keys }: RentalWithHealth): boolean {
  return !software?.image || ssh_key_ids.length > 0 || own_ssh_keys > 0;
}

/** Lets the machine answer at last, or never. */
function comeUp(world: World, account: Account, rental: MockRental): void {
  const { row, fate } = rental;
  if (row.status !== 'provisioning') return;
  const fail = (): void =>
    failWithFullRefund(
      world,
      account,
      row,
      'The machine did not become reachable. You were not charged for it.',
    );
  if (fate === 'fails') {
    fail();
  } else if (world.machines) {
    world.machines.addressOf(row.id).then((address) => run(world, account, rental, address), fail);
  } else run(world, account, rental, nowhere(row));
}

/** An address where nothing answers. */
function nowhere({ no }: RentalWithHealth): MachineAddress {
  return {
    // This block is reserved for documentation (RFC 5737): no address in it reaches anybody by mistake.
    ...{ host: `203.0.113.${(no % 254) + 1}`, port: 22, username: 'root' },
    hostKeyFingerprint: `SHA256:${randomBytes(32).toString('base64').replace('=', '')}`,
  };
}

function run(
  world: World,
  account: Account,
  { row, fate }: MockRental,
  { host, port, username, hostKeyFingerprint }: MachineAddress,
): void {
  // It may have been stopped while its machine was made.
  if (row.status !== 'provisioning') return;
  const now = world.now();
  row.status = 'running';
  row.running_at = now;
  // Where its open ports answer.
  row.pod_host = host;
  row.ready_by = wantsSsh(row) ? 'ssh' : 'port';
  if (row.ready_by === 'ssh') {
    Object.assign(row, { host, port, username, host_key_fingerprint: hostKeyFingerprint });
    world.events.tell(account.user.id, 'rental.ssh_answered', row.id, {
      ...{ host, port, username, hostKeyFingerprint },
    });
  }
  const price = { pricePerHourCents: row.price_per_hour_cents, latestEnd: null };
  const { autoStopAt, spendLimitAt } = limitsAtStart({ ...limitsOf(row), ...price }, now);
  Object.assign(row, { auto_stop_at: autoStopAt, spend_limit_at: spendLimitAt });
  world.events.tell(account.user.id, 'rental.running', row.id, {
    runningAt: now.toISOString(),
    autoStopAt: autoStopAt?.toISOString() ?? null,
    spendLimitAt: spendLimitAt?.toISOString() ?? null,
  });
  if (fate === 'is_lost') world.after(world.durations.lostMs, () => lose(world, account, row));
}

/** Ends a rental whose machine is lost now, unless a limit ended it before: then the meter does. */
function lose(world: World, account: Account, row: RentalWithHealth): void {
  if (row.status !== 'running') return;
  const today = new Date(world.now().getTime() - DAY);
  const refunds = account.rentals.filter(
    ({ row: { status, running_at, settled_at } }) =>
      status === 'failed' && running_at !== null && settled_at !== null && settled_at > today,
  );
  const end = endOfLost({
    ...billedOf(row),
    neverAnswered: row.ready_by === 'grace',
    ...{ lastAliveAt: world.now(), stopAskedAt: null, moneyEndedAt: null, fullRefundsToday: refunds.length },
  });
  if (end?.kind === 'refunded') failWithFullRefund(world, account, row, end.error);
  if (end?.kind === 'billed') {
    settle(world, account, row, { at: end.endedAt, reason: 'pod_lost', error: end.error });
  }
}

/**
 * Stops a rental: billing ends now, and the rest of the hold is given back (decision 15, "Stopping a rental"), unless a
 * limit or the money has ended it before.
 */
export function stopRental(world: World, account: Account, row: RentalWithHealth): void {
  const requestedAt = world.now();
  if (row.status === 'running') meter(world, account, row, { requestedAt, requestedBy: 'user' });
  if (row.status === 'provisioning') settle(world, account, row, { at: requestedAt, reason: 'user' });
}

function after(at: Date, ms: number): Date {
  return new Date(at.getTime() + ms);
}

function newRow(world: World, account: Account, request: Request, listing: ListingRow): RentalWithHealth {
  const no = world.nextRentalNo();
  return {
    no,
    id: newId('rent'),
    wallet_id: account.wallet.id,
    user_id: account.user.id,
    status: 'provisioning',
    ...noWords,
    ...wordsOf(request),
    template_id: request.templateId,
    family: listing.family,
    model: listing.model,
    gpu_count: listing.gpu_count,
    region: listing.region,
    region_code: listing.region_code,
    interconnect: listing.interconnect,
    listing_id: listing.id,
    provider_code: listing.provider_code,
    tag: `mock-${no}`,
    pod_id: `pod-${no}`,
    ssh_key_ids: [...request.sshKeyIds],
    host: null,
    port: null,
    username: null,
    host_key_fingerprint: null,
    price_per_hour_cents: listing.price_per_hour_cents,
    max_spend_cents: request.maxSpendCents,
    auto_stop_after_ms: request.autoStopAfterMs,
    hold_cents: listing.price_per_hour_cents,
    charged_cents: 0,
    refunded_cents: 0,
    released_cents: 0,
    overage_cents: 0,
    written_off_cents: 0,
    started_at: world.now(),
    running_at: null,
    auto_stop_at: null,
    spend_limit_at: null,
    ended_at: null,
    settled_at: null,
    terminated_at: null,
    closed_at: null,
    stop_reason: null,
    error: null,
    silent_probes: null,
    waiting: queuedFacts(world, no),
    host_key_changed: null,
    opened_seq: account.wallet.entries.length,
    settled_seq: null,
    // These come from the meter, which the mock does not have.
    running_ms: null,
    limit_ms: null,
    api_key_id: request.apiKeyId ?? null,
    own_ssh_keys: request.sshPublicKeys?.length ?? 0,
    software: request.software ?? null,
    ready_by: null,
    idle_guard: keptGuard(request.idleGuard),
    telemetry: asksForUse(request),
    ...{ pod_host: null, pod_ports: null },
  };
}
