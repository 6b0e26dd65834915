import type { Rental } from '@gpu-rental/client';
import { usd } from '../output/money.js';
import { cut } from '../output/text.js';
import { duration, localTime, secondsBetween } from '../output/time.js';

/** What a rental's row tells that is worth showing while it lives. */
export type Phase = NonNullable<Rental['phase']>;

/** What happens in each phase, as people say it. */
export const phaseWords: Readonly<Record<Phase, string>> = {
  queued: 'Waiting for its turn',
  buying: 'Getting the machine',
  booting: 'Starting the machine',
  installing: 'Installing',
  checking: 'Checking that SSH answers',
  ready: 'Ready',
};

/** The end of a rental's id, by which people name it: 2N3M4X. */
export function shortId(id: string): string {
  return id.slice(-6);
}

/** What something is about, as lists show it: a rental as people name it, anything else by its whole id. */
export function aboutWords(id: string): string {
  return id.startsWith('rent_') ? shortId(id) : id;
}

/** A rental as a sentence names it. */
export function nameOf({ name, id }: Pick<Rental, 'name' | 'id'>): string {
  return name === null ? shortId(id) : cut(name, 32);
}

/** "8 x H100" */
export function gpusOf({ gpuCount, model }: { readonly gpuCount: number; readonly model: string }): string {
  return `${gpuCount} x ${model.replaceAll('_', ' ')}`;
}

export function isLive({ status }: Pick<Rental, 'status'>): boolean {
  return status === 'provisioning' || status === 'running';
}

/** Where its own software is reached: the open ports, and the command that leads to the others. */
export function endpointFacts({
  id,
  endpoints,
}: Pick<Rental, 'id' | 'endpoints'>): (readonly [string, string])[] {
  return endpoints.map(
    (endpoint, index) => [index === 0 ? 'Ports' : '', endpointWords(id, endpoint)] as const,
  );
}

function endpointWords(id: string, endpoint: Rental['endpoints'][number]): string {
  const { name, url, host, port, auth } = endpoint;
  if (!endpoint.public && auth === 'token') return `${name}: gpu notebook ${shortId(id)}`;
  if (!endpoint.public) return `${name}: gpu ports ${name} -m ${shortId(id)}`;
  if (url !== null) return `${name}: ${url} (public)`;
  return host === null ? `${name}: not open yet (public)` : `${name}: ${host}:${String(port)} (public)`;
}

/** What a rental is doing, in one or two words. */
export function stateOf({ status, phase }: Pick<Rental, 'status' | 'phase'>): string {
  if (status !== 'provisioning') return status;
  return phase ?? 'starting';
}

/**
 * What a rental has cost until now, in cents: what was charged, and for one that runs what the clock says since.
 */
export function costNow(
  rental: Pick<Rental, 'status' | 'runningAt' | 'pricePerHourCents' | 'totalChargedCents'>,
  nowMs: number,
): number {
  const { status, runningAt, pricePerHourCents, totalChargedCents } = rental;
  if (status !== 'running' || runningAt === null) return totalChargedCents;
  const elapsedMs = Math.max(0, nowMs - Date.parse(runningAt));
  return Math.max(totalChargedCents, Math.floor((pricePerHourCents * elapsedMs) / 3_600_000));
}

/** How long a rental has run, or ran; undefined when it never did. */
export function runsFor(rental: Pick<Rental, 'runningAt' | 'stoppedAt'>, nowMs: number): string | undefined {
  const { runningAt, stoppedAt } = rental;
  return runningAt === null ? undefined : duration(secondsBetween(runningAt, stoppedAt ?? nowMs));
}

const reasons: Readonly<Record<string, string>> = {
  user: 'you stopped it',
  auto_stop: 'it reached its time limit',
  spend_limit: 'it reached its spending limit',
  balance_exhausted: 'your balance ran out',
  pod_lost: 'the machine was lost',
  operator: 'the service stopped it',
  idle: 'it was idle',
};

/** Why a rental ended; undefined while it lives. */
export function whyEnded({
  stopReason,
  failure,
}: Pick<Rental, 'stopReason' | 'failure'>): string | undefined {
  if (failure !== null) return failure.message;
  return stopReason === null ? undefined : (reasons[stopReason] ?? stopReason);
}

/** When its limits end a rental. */
export function limitsOf({
  autoStopAt,
  maxSpendCents,
  stopWhenIdleMinutes,
}: Pick<Rental, 'autoStopAt' | 'maxSpendCents' | 'stopWhenIdleMinutes'>): string {
  const limits = [
    ...(autoStopAt === null ? [] : [`at ${localTime(autoStopAt)}`]),
    ...(maxSpendCents === null ? [] : [`when it has cost ${usd(maxSpendCents)}`]),
    ...(stopWhenIdleMinutes === null ? [] : [`once it is idle for ${duration(stopWhenIdleMinutes * 60)}`]),
  ];
  return limits.length === 0 ? 'when you stop it or your balance runs out' : limits.join(', or ');
}

const warnings: Readonly<Record<string, string>> = {
  no_ssh_key: 'It has no SSH key, so nobody can log in.',
  ssh_unreachable: 'SSH does not answer now.',
  host_key_changed: 'Its host key has changed since it started.',
  public_port: 'Everybody on the internet can reach its public ports.',
};

export function warningWords(warning: string): string {
  return warnings[warning] ?? warning;
}
