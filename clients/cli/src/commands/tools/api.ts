import { isApiError, newIdempotencyKey, type GpuRental, type RouteRequest } from '@gpu-rental/client';
import { InvalidArgumentError } from 'commander';
import { fieldOption, putField, readInput, valueOf, type Field } from '../../api/fields.js';
import { withSession } from '../../asking/with-session.js';
import type { Cli } from '../../cli.js';
import type { AddCommand } from '../../command.js';
import { usageFailure } from '../../failure.js';
import { inServiceWords } from '../../refusals.js';

interface Options {
  readonly rawField?: readonly Field[];
  readonly field?: readonly Field[];
  readonly input?: string;
  readonly idempotencyKey?: string;
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
type Method = (typeof methods)[number];

/** gpu api */
export const addApi: AddCommand = (program, act) => {
  program
    .command('api')
    .argument('<method>', methods.join(', '), methodOf)
    .argument('<path>', 'such as /v1/rentals')
    .summary('call any route of the API')
    .description(
      'Call any route of the API as whoever is signed in, and print its answer. Fields are the body, or the query of a GET. A change carries an Idempotency-Key.',
    )
    .option(
      '-f, --raw-field <name=value>',
      'a text; name[inner]=… and name[]=… nest; repeatable',
      fieldOption(false),
    )
    .option(
      '-F, --field <name=value>',
      'a number, true, false or null as such, @FILE as what it holds, else a text; repeatable',
      fieldOption(true),
    )
    .option('--input <file>', 'the whole body, as JSON; - reads standard input')
    .option('--idempotency-key <key>', 'your own key, such as that of a request whose answer was lost')
    .action(
      act(async (cli, method: Method, path: string, options: Options) => {
        await show(cli, await ask(cli, await requestOf(cli, method, path, options)));
        return undefined;
      }),
    );
};

function methodOf(text: string): Method {
  const found = methods.find((method) => method === text.toUpperCase());
  if (found !== undefined) return found;
  throw new InvalidArgumentError(`It must be one of ${methods.join(', ')}.`);
}

async function requestOf(cli: Cli, method: Method, given: string, options: Options): Promise<RouteRequest> {
  const path = pathOf(cli, given);
  const { rawField = [], field = [], input, idempotencyKey } = options;
  const fields = [...rawField, ...field];
  if (input !== undefined && (fields.length > 0 || method === 'GET'))
    throw usageFailure('--input is the whole body: use it without -f and -F, and not with GET.');
  const { stdin } = cli.surroundings;
  const values = [];
  // One after the other: the standard input can be read once.
  for (const each of fields) values.push([each.name, await valueOf(each, stdin)] as const);
  if (method === 'GET') return { method, path: withQuery(path, values) };
  const body =
    input === undefined
      ? values.reduce<unknown>((before, [name, value]) => putField(before, name, value), undefined)
      : jsonOf(await readInput(input, stdin));
  return { method, path, body, idempotencyKey: idempotencyKey ?? newIdempotencyKey() };
}

/** Some shells make a path of this machine out of a word that begins with a slash: it may be left out. */
function pathOf({ url }: Cli, given: string): string {
  const path = given.startsWith('/') ? given : `/${given}`;
  if (/^\/[a-z]+:\/\//i.test(path) || !new URL(url + path).href.startsWith(`${url}/`))
    throw usageFailure(`"${given}" is not a path of the API.`, 'It looks like /v1/rentals');
  if (/^\/v1\/events\/stream\b/.test(path))
    throw usageFailure('The stream of events never ends.', 'Follow it with: gpu events --follow --json');
  return path;
}

function withQuery(path: string, values: readonly (readonly [string, unknown])[]): string {
  if (values.length === 0) return path;
  const query = new URLSearchParams(values.map(([name, value]): [string, string] => [name, String(value)]));
  return `${path}${path.includes('?') ? '&' : '?'}${query.toString()}`;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw usageFailure('What --input names is not JSON.');
  }
}

/** Asks by the key, and at a terminal in a session where a key may not. */
async function ask(cli: Cli, request: RouteRequest): Promise<Response> {
  try {
    return await send(cli, cli.anyone(), request).catch((error: unknown) => {
      if (!isApiError(error, 'session_required') || !cli.asking.canAsk) throw error;
      return withSession(cli, 'send this request', (client) => send(cli, client, request));
    });
  } catch (error) {
    throw isApiError(error) ? inServiceWords(error) : error;
  }
}

function send(cli: Cli, client: GpuRental, request: RouteRequest): Promise<Response> {
  const { method, path, idempotencyKey } = request;
  if (method === 'GET') return client.request(request, { signal: cli.signal });
  const about = {
    details: { method, path, idempotencyKey },
    next: `Look before you send it again. Where the route takes an Idempotency-Key, it is done once with: --idempotency-key ${idempotencyKey ?? ''}`,
  };
  return cli.commit(
    () => client.request(request),
    { ...about, message: `The service did not confirm whether it did ${method} ${path}.` },
    () => ({ ...about, message: `The service did ${method} ${path}.` }),
  );
}

/** What is no JSON may be no text either, and stays as it is. */
async function show({ out, signal }: Cli, answer: Response): Promise<void> {
  if (/^application\/json\b/.test(answer.headers.get('Content-Type') ?? '')) out.json(await answer.json());
  else await out.pour(() => Promise.resolve(answer.body ?? new Blob([]).stream()), signal);
}
