import { readFileSync } from 'node:fs';
import { describeApi } from '../../../api/http/openapi/document.js';
import { parseCause } from '../../../domain/causes.js';
import { eventTypes } from '../../../domain/events/events.js';
import { noticeKinds } from '../../../domain/notices/kinds.js';
import { refusalStatus } from '../../../domain/refusal.js';
import type { Part, Reach } from './reach.js';
import { readStates } from './states.js';

/** What a run knows of itself when it ends. */
interface Ended {
  readonly ask: <Row>(sql: string, values?: readonly unknown[]) => Promise<Row[]>;
  /** Words of the simulated server, such as "activity openRental". */
  readonly noted: readonly string[];
  /** The names of all activities and of all types of workflows. */
  readonly activities: readonly string[];
  readonly workflows: readonly string[];
  /** Requests by kind and answer, such as "create 409 already_stopped". */
  readonly answers: readonly string[];
  /** Requests as they were sent, such as "GET /v1/rentals/rent_1". */
  readonly requests: readonly string[];
  /** Statements by the activity or request that they belong to; those at which a process crashed, or was cut off. */
  readonly points: { readonly passed: readonly string[]; readonly hit: readonly string[] };
}

/** Compares what a run reached with all that there is, as the sources and the database's catalog say. */
export async function collectReach(ended: Ended): Promise<Reach> {
  const { ask, noted, activities, workflows } = ended;
  const after = (word: string): string[] =>
    noted.filter((one) => one.startsWith(`${word} `)).map((one) => one.slice(word.length + 1));
  const { states, transitions } = await readStates(ask);
  const events = await ask<{ type: string }>('select distinct type from events');
  const causes = await ask<{ cause: string }>('select cause from mail_outbox');
  const notices = await ask<{ kind: string }>('select distinct kind from user_notices');
  const refused = await ask<{ code: string }>(
    'select distinct refused_code as code from closing_refunds where refused_code is not null',
  );
  const codes = ended.answers.map((answer) => / \d{3} (\w+)$/.exec(answer)?.[1] ?? '');
  const moments = (statements: readonly string[]): string[] =>
    statements
      .filter((statement) => writes.test(statement))
      .flatMap((statement) => [`before ${statement}`, `after ${statement}`]);
  return {
    'workflow types': part(workflows, namesOf(after('workflow'), ' starts')),
    'workflows that continued as new': part(workflows, namesOf(after('workflow'), ' continues as new')),
    activities: part(activities, after('activity')),
    'activities tried again': part(activities, after('retry')),
    'activities that overlapped their own retry': part(activities, after('overlap')),
    'failures of activities': part([], after('failure')),
    'words of columns': states,
    'changes of columns': transitions,
    'operations of the API': part(operations(), ended.requests.map(operationOf)),
    'error codes of the API': part(Object.keys(refusalStatus), codes),
    'answers to requests': part([], ended.answers),
    'event types': part(
      eventTypes,
      events.map(({ type }) => type),
    ),
    'causes of mails': part(
      mailCauses(),
      causes.map(({ cause }) => parseCause(cause)?.kind ?? ''),
    ),
    'kinds of notices': part(
      Object.keys(noticeKinds),
      notices.map(({ kind }) => kind),
    ),
    'refusals of what closings give back': part(
      [],
      refused.map(({ code }) => code),
    ),
    'recovery points': part(moments(ended.points.passed), ended.points.hit),
  };
}

/** Statements that may change rows: a crash between others leaves nothing to recover. */
const writes = /: (?:insert|update|delete|with|commit)\b/i;

function part(all: readonly string[], seen: readonly string[]): Part {
  const known = new Set(all);
  const kept = all.length === 0 ? seen : seen.filter((one) => known.has(one));
  return { all, seen: [...new Set(kept)].sort() };
}

function namesOf(words: readonly string[], ending: string): string[] {
  return words.filter((word) => word.endsWith(ending)).map((word) => word.slice(0, -ending.length));
}

/** The kinds of causes of which the sources say that a mail may have them. */
function mailCauses(): string[] {
  const source = readFileSync(new URL('../../../domain/causes.ts', import.meta.url), 'utf8');
  const list = /export type MailCause =([\s\S]*?);\n\n/.exec(source)?.[1] ?? '';
  const kinds = [...list.matchAll(/Caused<'(\w+)'/g)].map(([, kind]) => kind ?? '');
  if (kinds.length === 0) throw new Error('domain/causes.ts does not list the causes of mails');
  return [...new Set(kinds), 'reversal', 'reversal_returned'];
}

const templates: { readonly name: string; readonly path: RegExp }[] = [];

function operations(): string[] {
  const { paths } = describeApi() as { paths: Record<string, Record<string, unknown>> };
  for (const [path, methods] of templates.length > 0 ? [] : Object.entries(paths)) {
    for (const method of Object.keys(methods)) {
      const pattern = path.replaceAll(/\{[^}]+\}/g, '[^/]+').replaceAll('.', '\\.');
      templates.push({
        name: `${method.toUpperCase()} ${path}`,
        path: new RegExp(`^${method} ${pattern}$`, 'i'),
      });
    }
  }
  return templates.map(({ name }) => name);
}

function operationOf(request: string): string {
  const asked = request.replace(/\?.*$/, '');
  const fits = templates.filter(({ path }) => path.test(asked));
  // A path without parameters is the better answer.
  return (fits.find(({ name }) => !name.includes('{')) ?? fits[0])?.name ?? '';
}
