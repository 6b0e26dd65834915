import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Database } from '../../adapters/postgres/database.js';
import { finalCents } from '../../domain/metering/metering.js';
import type { Answer } from './client.js';
import type { Topology } from './topology.js';
import type { Account } from './user.js';

const run = promisify(execFile);

/**
 * Compares the users' answers, the processor's payments and the upstream's machines with the service's present state.
 * @returns the differences in words; nothing when all is well
 */
export async function judge(
  topology: Topology,
  db: Database,
  accounts: readonly Account[],
): Promise<string[]> {
  const perUser = await Promise.all(accounts.map((account) => judgeAccount(db, account)));
  return [
    ...perUser.flat(),
    ...(await judgeLedger(topology)),
    ...(await judgeProcessor(topology, accounts)),
    ...(await judgePods(topology)),
  ];
}

async function judgeAccount(db: Database, account: Account): Promise<string[]> {
  const faults: string[] = [];
  let chargedCents = 0;
  for (const id of account.rentals) {
    const { status, body } = await account.client.get('poll', `/v1/rentals/${id}`);
    if (status !== 200) {
      faults.push(`${id} was answered to ${account.email}, and now it is a ${status}`);
      continue;
    }
    chargedCents += Number(body['totalChargedCents']);
    faults.push(...(account.failed.has(id) ? judgeFailed(body) : judgeRental(body, account.stops.get(id))));
  }
  const user = db('users').where({ email: account.email }).select('id');
  const known = await db('rentals').whereIn('user_id', user.clone()).select('id');
  for (const { id } of known) {
    if (!account.rentals.includes(id)) faults.push(`${id} of ${account.email} was answered to nobody`);
  }
  const { body: balance } = await account.client.get('poll', '/v1/billing/balance');
  const paidCents = [...account.paid.values()].reduce((sum, cents) => sum + cents, 0);
  if (balance['totalCents'] !== paidCents - chargedCents || balance['reservedCents'] !== 0) {
    faults.push(
      `${account.email} paid ${paidCents} and was charged ${chargedCents}, and has ${JSON.stringify(balance)}`,
    );
  }
  faults.push(...(await judgeNames(db, account)), ...(await judgeScripts(db, account)));
  const credits = await db('ledger_entries')
    .whereIn('wallet_id', db('wallets').whereIn('user_id', user.clone()).select('id'))
    .where({ type: 'processor_topup' });
  if (credits.length !== account.paid.size) {
    faults.push(`${account.email} paid ${account.paid.size} times, and was credited ${credits.length} times`);
  }
  return faults;
}

/** Each change that was answered is on record. */
async function judgeNames(db: Database, { email, names }: Account): Promise<string[]> {
  const user = db('users').where({ email }).select('id');
  const rows = await db('rental_changes')
    .whereIn('user_id', user)
    .whereNotNull('answered_at')
    .select('asked');
  const kept = new Set(rows.map(({ asked }) => asked.name));
  return names
    .filter((name) => !kept.has(name))
    .map((name) => `the name ${name} was acknowledged to ${email}, and no change has it`);
}

/** Each machine that ran has its start script, however often the listener was away. */
async function judgeScripts(db: Database, { scripted, stops }: Account): Promise<string[]> {
  const ran = [...scripted].filter((id) => stops.has(id));
  const rows = await db('events')
    .whereIn('entity_id', ran)
    .where({ type: 'rental.script_fetched' })
    .select('entity_id');
  const fetched = new Set(rows.map(({ entity_id: id }) => id));
  return ran
    .filter((id) => !fetched.has(id))
    .map((id) => `the machine of ${id} never fetched its start script`);
}

/** A rental that never ran costs nothing. */
function judgeFailed({ id, status, totalChargedCents }: Answer['body']): string[] {
  if (status === 'failed' && totalChargedCents === 0) return [];
  return [`${String(id)} never ran, is ${String(status)} and was charged ${String(totalChargedCents)}`];
}

/**
 * Checks a rental by decision 25, "Usage as running total", from the API's own answers, and checks that the stop's
 * answer stayed true.
 */
export function judgeRental(rental: Answer['body'], stop: Answer['body'] | undefined): string[] {
  const elapsedMs = Date.parse(String(rental['stoppedAt'])) - Date.parse(String(rental['runningAt']));
  const dueCents = finalCents(Number(rental['pricePerHourCents']), elapsedMs, null);
  const charged = rental['totalChargedCents'];
  const faults: string[] = [];
  const id = String(rental['id']);
  if (rental['status'] !== 'stopped') faults.push(`${id} is ${String(rental['status'])} in the end`);
  if (charged !== dueCents) faults.push(`${id} was charged ${String(charged)}, the formula says ${dueCents}`);
  const told = stop?.['finalChargedCents'];
  if (told === undefined) faults.push(`the stop of ${id} was answered with no amount, not even null`);
  else if (told !== null && told !== charged) {
    faults.push(
      `the stop of ${id} was answered ${JSON.stringify(told)}, and it was charged ${String(charged)}`,
    );
  }
  return faults;
}

/** Checks the ledger as operators do, with their rights. */
async function judgeLedger({ opsUrl, opsTemporal, urls }: Topology): Promise<string[]> {
  const env = {
    DATABASE_URL: opsUrl,
    ...{ TEMPORAL_ADDRESS: urls.temporal, ...opsTemporal },
    DASHBOARD_URL: urls.mail,
    SMTP_URL: urls.smtp,
  };
  const { stdout } = await run(process.execPath, ['dist/ops/index.js', 'ledger', 'verify', '--json'], {
    env,
  }).catch((error: unknown) => error as { stdout: string });
  const { wallets, findings } = JSON.parse(stdout) as { wallets: number; findings: unknown[] };
  if (wallets === 0) return ['ops ledger verify saw no wallet at all'];
  return findings.map((finding) => `ops ledger verify: ${JSON.stringify(finding)}`);
}

async function judgeProcessor({ urls }: Topology, accounts: readonly Account[]): Promise<string[]> {
  const state = (await (await fetch(`${urls.processor}/lab/state`)).json()) as {
    charges: { amount: number; paid: boolean }[];
  };
  const takenCents = state.charges.filter(({ paid }) => paid).reduce((sum, { amount }) => sum + amount, 0);
  const paidCents = accounts.flatMap(({ paid }) => [...paid.values()]).reduce((sum, cents) => sum + cents, 0);
  return takenCents === paidCents
    ? []
    : [`the processor took ${takenCents} cents for pages of ${paidCents} cents`];
}

/** Checks that every bought machine is gone: none goes on costing money. */
async function judgePods({ urls }: Topology): Promise<string[]> {
  const { pods } = (await (await fetch(`${urls.provider}/lab/state`)).json()) as {
    pods: { id: string; status: string }[];
  };
  if (pods.length === 0) return ['the upstream never had a machine'];
  return pods
    .filter(({ status }) => status !== 'deleted')
    .map(({ id, status }) => `machine ${id} is ${status}`);
}
