import type { Command } from 'commander';
import { listAttempts } from '../../adapters/postgres/machines/attempts.js';
import type { Database } from '../../adapters/postgres/database.js';
import { listLeakingPods, sumFreeMachines, sumLeaks } from '../../adapters/postgres/machines/pod-leaks.js';
import { listHeldPods } from '../../adapters/postgres/machines/pods-watch.js';
import { isOutNow, listProviders } from '../../adapters/postgres/catalog/provider-health.js';
import type { ProviderRow } from '../../adapters/postgres/rows/tables.js';
import type { RentalId } from '../../domain/ids.js';
import { runwaySeconds } from '../../domain/metering/runway.js';
import { using, type OpsContext } from '../context.js';
import { actByHand } from '../direct.js';
import { addOdditiesCommand } from './oddities.js';
import { asOperator, countOf, idOf, type OperatorOptions } from '../options.js';
import { iso, printRows, readable, type Print } from '../output.js';

/** `ops providers …` and `ops attempts`: the upstreams and our calls to them. */
export function addProviderCommands(program: Command, context: OpsContext): void {
  const providers = program
    .command('providers')
    .alias('provider')
    .description('The upstreams: their state, unpaid machines, and whether we buy there.')
    .addHelpText(
      'after',
      `
Examples:
  ops providers
  ops providers pause shadeform --by ada --reason "bills us twice"
  ops providers release shadeform --by ada --reason "their console shows none"`,
    );
  addPauses(providers, context);
  readable(providers.command('list', { isDefault: true }))
    .description('Shows the state of each upstream, and machines there that cost money and nobody pays for.')
    .option('--days <count>', 'how many days to add up', countOf, 30)
    .action(({ days, json }: Print & { days: number }) =>
      using(context, (db) => show(db, days, json === true)),
    );
  addOdditiesCommand(providers, context);
  asOperator(providers.command('release').argument('<code>', 'the upstream'))
    .description('Accepts that machines missing from the upstream’s lists are gone, and ends their rentals.')
    .option('--minutes <count>', 'how long to accept it', countOf, 10)
    .action((providerCode: string, { minutes, ...options }: OperatorOptions & { minutes: number }) =>
      actByHand(context, { kind: 'release_missing', providerCode, minutes }, options, {
        then: 'ends the rentals whose machines are missing from the lists',
      }),
    );
  readable(program.command('attempts').argument('<id>', 'the rental (rent_…)', idOf('rent')))
    .description('Shows what we asked the upstreams for one rental, in order.')
    .action((id: RentalId, { json }: Print) =>
      using(context, async (db) =>
        printRows(await listAttempts(db, id), json, (row) =>
          [
            `${row.attempt}. ${row.provider_code} ${row.offer_id} at ${row.price_per_hour_cents} cents/h: ${row.state}`,
            `pod ${row.pod_id ?? 'none'}, ${iso(row.created_at)}`,
            row.error ?? '',
          ].join('  '),
        ),
      ),
    );
}

/** No answer of the upstream ends a pause: the operator who began it does. */
function addPauses(providers: Command, context: OpsContext): void {
  const verbs = [
    ['pause', 'pause_provider', 'Stops renting there. Running machines keep running.'],
    ['resume', 'resume_provider', 'Offers its machines again.'],
  ] as const;
  for (const [name, kind, description] of verbs) {
    asOperator(providers.command(name).argument('<code>', 'the upstream'))
      .description(description)
      .action((providerCode: string, options: OperatorOptions) =>
        actByHand(context, { kind, providerCode }, options),
      );
  }
}

async function show(db: Database, days: number, json: boolean): Promise<void> {
  const providers = await listProviders(db);
  const [held, leaking, leaks, free] = [
    await listHeldPods(db),
    await listLeakingPods(db),
    await sumLeaks(db, days),
    await sumFreeMachines(db, days),
  ];
  if (json) {
    console.log(JSON.stringify({ providers, held, leaking, leaks, free }));
    return;
  }
  for (const provider of providers) console.log(lineOf(provider));
  for (const pod of held)
    console.log(
      `held   ${pod.provider_code} ${pod.tag} (${pod.pod_id}) since ${iso(pod.held_since)}: ops providers release ${pod.provider_code}`,
    );
  for (const pod of leaking)
    console.log(
      `ending ${pod.provider_code} ${pod.tag} (${pod.pod_id}): ${pod.kind}, ${pod.seconds} s, ${pod.cents} cents`,
    );
  for (const sum of leaks)
    console.log(
      `unpaid ${sum.providerCode} ${sum.kind}: ${sum.pods} pods, ${sum.seconds} s, ${sum.cents} cents in ${days} days`,
    );
  for (const sum of free)
    console.log(
      `free   ${sum.providerCode} ${sum.kind}: ${sum.machines} machines of ${sum.users} users (${sum.topUserMachines} of ${sum.topUserId}), ${sum.seconds} s, ${sum.cents} cents in ${days} days`,
    );
  if (leaks.length === 0) console.log(`No unpaid machines in the last ${days} days.`);
}

function lineOf(row: ProviderRow): string {
  const out = isOutNow(row, Date.now()) ? `out until ${iso(row.out_until)} (${row.out_reason ?? ''})` : 'in';
  const error = row.last_error === null ? '' : `; last error ${iso(row.last_error_at)}: ${row.last_error}`;
  const paused =
    row.paused_at === null
      ? ''
      : `; paused since ${iso(row.paused_at)} by ${row.paused_by ?? ''}: ${row.paused_reason ?? ''}`;
  return `${row.code}: ${out}${paused}; catalog ${iso(row.catalog_synced_at)}; pods ${iso(row.pods_listed_at)}${balanceOf(row)}${error}`;
}

function balanceOf({
  balance_cents: cents,
  burn_cents_per_hour: burn,
  balance_read_at: at,
}: ProviderRow): string {
  if (cents === null || burn === null) return '';
  const hours = runwaySeconds(cents, burn) / 3_600;
  const lasts = Number.isFinite(hours) ? `, lasts ${Math.floor(hours)} h` : '';
  return `; balance ${cents} cents at ${burn} cents/h${lasts}, read ${iso(at)}`;
}
