import type { MeterReading, RentalWithHealth } from '../../adapters/postgres/rentals/rental-reads.js';
import { costOf, failureOf } from '../../adapters/postgres/rentals/facts.js';
import { progressIn } from '../../adapters/postgres/rentals/progress-reads.js';
import type { RentalRow } from '../../adapters/postgres/rows/tables.js';
import type { OpenedRental, Rental } from './describe.js';
import { machineLimits } from '../../domain/machines/limits.js';
import { pendingMillicents } from '../../domain/metering/metering.js';
import { publicPortsOf } from '../../domain/rentals/software.js';
import { presentGuard } from './idle-guard.js';
import { presentEndpoints, presentSoftware } from './describe-software.js';
import { presentWords } from './word-fields.js';

/** A rental on read (decision 16, "A rental on read"). */
export function presentRental(row: RentalWithHealth): Rental {
  const { phase, phaseSince, attempt, expectedReadyAt } = progressIn(row);
  return {
    id: row.id,
    ...presentWords(row),
    status: row.status,
    phase,
    phaseSince: timeOf(phaseSince),
    attempt,
    expectedReadyAt: timeOf(expectedReadyAt),
    familyId: row.family,
    family: row.family,
    model: row.model,
    gpuCount: row.gpu_count,
    region: row.region,
    provider: row.provider_code,
    providerCode: row.provider_code,
    templateId: row.template_id,
    software: presentSoftware(row.software),
    endpoints: presentEndpoints(row),
    interconnect: row.interconnect,
    pricePerHourCents: row.price_per_hour_cents,
    host: row.host,
    port: row.port,
    username: row.username,
    hostKeyFingerprint: row.host_key_fingerprint,
    startedAt: row.started_at.toISOString(),
    runningAt: timeOf(row.running_at),
    stoppedAt: timeOf(row.ended_at),
    terminatedAt: timeOf(row.terminated_at),
    autoStopAt: timeOf(row.auto_stop_at),
    maxSpendCents: row.max_spend_cents,
    stopWhenIdleMinutes: row.idle_guard?.minutes ?? null,
    idleGuard: presentGuard(row.idle_guard),
    totalChargedCents: netChargedCents(row),
    writtenOffCents: row.written_off_cents,
    error: row.error,
    failure: shownFailure(row),
    stopReason: row.stop_reason,
    warnings: warningsOf(row),
  };
}

/**
 * The answer to POST /v1/rentals: the specification's fields, and warnings when there are any (decision 14, "SSH
 * keys").
 */
export function presentOpened(row: RentalWithHealth): OpenedRental {
  const warnings = warningsOf(row);
  return {
    id: row.id,
    status: row.status,
    host: row.host,
    port: row.port,
    pricePerHourCents: row.price_per_hour_cents,
    startedAt: row.started_at.toISOString(),
    ...(warnings.length > 0 && { warnings }),
  };
}

/** The result of a stop: the amounts are null until the rental is settled (decision 15, "Stopping a rental"). */
export function presentStop(row: RentalRow) {
  const cost = row.settled_at === null ? undefined : costOf(row);
  return {
    id: row.id,
    status: row.status,
    finalChargedCents: cost?.chargedCents ?? null,
    refundedCents: cost?.refundedCents ?? null,
  };
}

/** A rental's meter (decision 17, "The meter on read"). Nothing is pending once it is settled. */
export function presentMeter(reading: MeterReading) {
  const { rental, elapsedMs } = reading;
  const pending =
    rental.settled_at === null
      ? pendingMillicents(rental.price_per_hour_cents, elapsedMs, rental.charged_cents)
      : 0;
  return {
    rentalId: rental.id,
    pricePerHourCents: rental.price_per_hour_cents,
    secondsBilled: Math.floor(elapsedMs / 1000),
    chargedCents: netChargedCents(rental),
    pendingMillicents: pending,
    holdCents: rental.hold_cents,
    lastTickAt: timeOf(reading.lastTickAt),
  };
}

/** Why a rental failed, as far as is known: a code for programs, a text for people. */
function shownFailure(row: RentalRow): Rental['failure'] {
  if (row.status !== 'failed' || row.error === null) return null;
  return { code: failureOf(row), message: row.error };
}

function netChargedCents(row: RentalRow): number {
  return row.charged_cents - row.refunded_cents;
}

/** A machine that does not answer is not ended for it: its renter may have closed the door themselves. */
function warningsOf(row: RentalWithHealth): Rental['warnings'] {
  const running = row.status === 'running';
  return [
    ...(hasNoKey(row) ? (['no_ssh_key'] as const) : []),
    ...(row.software && publicPortsOf(row.software).length > 0 ? (['public_port'] as const) : []),
    ...(running && (row.silent_probes ?? 0) >= machineLimits.silentProbes
      ? (['ssh_unreachable'] as const)
      : []),
    ...(running && row.host_key_changed === true ? (['host_key_changed'] as const) : []),
  ];
}

/** Whoever brings an image need not want to enter it. */
function hasNoKey(row: RentalRow): boolean {
  return row.ssh_key_ids.length === 0 && row.own_ssh_keys === 0 && !row.software?.image;
}

function timeOf(at: Date | null): string | null {
  return at?.toISOString() ?? null;
}
