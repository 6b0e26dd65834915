import type { AuditEvent, FailedSignIns } from '@gpu-rental/client';
import { askOrSession } from '../../asking/with-session.js';
import type { Cli } from '../../cli.js';
import { wholeNumber, type AddCommand } from '../../command.js';
import type { Column } from '../../output/table.js';
import { counted } from '../../output/text.js';
import { localTime } from '../../output/time.js';
import { cutFirst, pageFor } from '../../views/cut-list.js';
import { aboutWords, shortId } from '../../views/rental.js';

interface Options {
  readonly kind?: AuditEvent['kind'];
  readonly limit: number;
}

/** gpu audit */
export const addAudit: AddCommand = (program, act) => {
  program
    .command('audit')
    .summary('who changed what in your account')
    .description('Who changed what in your account, by which key and from where, newest first.')
    .option('--kind <kind>', 'only this kind, such as api_key_created')
    .option('-n, --limit <number>', 'how many at most', wholeNumber(1, 10_000), 20)
    .action(
      act(async (cli, options: Options) => {
        await list(cli, options);
        return undefined;
      }),
    );
};

async function list(cli: Cli, options: Options): Promise<void> {
  const found = await askOrSession(cli, 'read the audit trail', (client) =>
    readTrail(client.audit.list(queryOf(options), { signal: cli.signal }).pages(), options.limit),
  );
  const { rows: events, words, more } = cutFirst(found.events, options.limit);
  const { failedSignIns } = found;
  const { out } = cli;
  out.result({ events, failedSignIns, ...more }, () => {
    const notes = [...words, ...failedSignIns.map(failedWords)];
    const table = events.length === 0 ? ['Nothing yet.'] : out.table(columns, events);
    return notes.length === 0 ? table : [...table, '', ...notes.flatMap((note) => out.text(note))];
  });
}

function queryOf({ kind, limit }: Options) {
  return { pageSize: pageFor(limit), ...(kind !== undefined && { kind }) };
}

/** What pages of the trail hold. */
interface Trail {
  readonly events: readonly AuditEvent[];
  readonly failedSignIns: readonly FailedSignIns[];
}

/** Reads one event more than is shown. */
async function readTrail(pages: AsyncIterable<Trail>, limit: number): Promise<Trail> {
  const events: AuditEvent[] = [];
  const failedSignIns: FailedSignIns[] = [];
  for await (const page of pages) {
    events.push(...page.events);
    failedSignIns.push(...page.failedSignIns);
    if (events.length > limit) break;
  }
  return { events, failedSignIns };
}

const columns: Column<AuditEvent>[] = [
  { title: 'WHEN', value: ({ at }) => localTime(at), dropAs: 1 },
  { title: 'WHAT', value: ({ kind }) => kind.replaceAll('_', ' ') },
  { title: 'ABOUT', value: ({ entityId }) => (entityId === null ? '' : aboutWords(entityId)), dropAs: 3 },
  { title: 'BY', value: byWords },
  { title: 'FROM', value: ({ clientAddress }) => clientAddress ?? '', dropAs: 2 },
];

function byWords({ apiKeyId, clientAddress }: AuditEvent): string {
  if (apiKeyId !== null) return `key ${shortId(apiKeyId)}`;
  return clientAddress === null ? 'the service' : 'you';
}

function failedWords({ hour, tries }: FailedSignIns): string {
  return `${counted(tries, 'wrong code')} in the hour from ${localTime(hour)}.`;
}
