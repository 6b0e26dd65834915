import { signWebhook, type Event, type EventType } from '@gpu-rental/client';
import { randomBytes } from 'node:crypto';
import { readSecret, secretInArguments } from '../../asking/read-secret.js';
import type { Cli } from '../../cli.js';
import { eventTypes, wholeNumber, type AddCommand } from '../../command.js';
import { Failure, usageFailure } from '../../failure.js';
import { pad } from '../../output/text.js';
import { clockTime } from '../../output/time.js';
import { tellOfConnection } from '../../watch/connection.js';
import { addStoredWebhooks } from './stored-webhooks.js';

interface Options {
  readonly forwardTo?: string;
  readonly types?: readonly EventType[];
  readonly after?: number;
  readonly secret?: boolean;
  readonly printSecret?: boolean;
}

/** As long as the service waits for a receiver. */
const answerWithinMs = 10_000;
/** As for real webhooks: what tells of sign-ins, passkeys and keys comes to who names it. */
const onlyWhenNamed = /^(session|passkey|api_key)\.|^webhook\.ping$/;

/** gpu webhooks */
export const addWebhooks: AddCommand = (program, act) => {
  const webhooks = program
    .command('webhooks')
    .summary('your webhooks, and tests of a receiver')
    .description('Your webhooks: addresses to which we send your events. Test a receiver with: listen.');
  addStoredWebhooks(webhooks, act);
  const command = webhooks
    .command('listen')
    .allowExcessArguments()
    .description(
      'Send your account’s events to a receiver on this computer, as real webhooks would: signed, one after the other. Press ctrl-C to end it.',
    )
    .option('-f, --forward-to <url>', 'such as http://localhost:3000/hooks (default: only show events)')
    .option('--types <types>', 'only these, separated by commas: rental.running,rental.stopped', eventTypes)
    .option('--after <number>', 'also events after this one', wholeNumber(0, Number.MAX_SAFE_INTEGER))
    .option('--secret', 'sign with your own secret: asks for it, or reads it from standard input')
    .option('--print-secret', 'only print the secret')
    .action(
      act(async (cli, options: Options) => {
        if (command.args.length > 0) throw secretInArguments('secret', 'gpu webhooks listen --secret');
        const secret = options.secret === true ? await readOwnSecret(cli) : keptSecret(cli);
        if (options.printSecret === true) cli.out.print(secret);
        else await listen(cli, secret, options);
        return undefined;
      }),
    );
};

/** The secret stays the same from one run to the next, so that a receiver's settings do. */
function keptSecret(cli: Cli): string {
  const kept = cli.store.credentials(cli.place).webhookSecret;
  if (kept !== undefined) return kept;
  const webhookSecret = `whsec_${randomBytes(32).toString('base64')}`;
  cli.store.keepSecrets(cli.place, { webhookSecret });
  return webhookSecret;
}

async function readOwnSecret(cli: Cli): Promise<string> {
  const given = await readSecret(cli, 'secret', 'Nothing was sent.');
  if (/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/.test(given)) return given;
  throw usageFailure(
    'That is not a webhook secret.',
    'It is whsec_ and at least 24 bytes in base64. Without --secret, we create one.',
  );
}

async function listen(cli: Cli, secret: string, options: Options): Promise<void> {
  const { signal } = cli;
  const target = options.forwardTo === undefined ? undefined : receiverOf(options.forwardTo);
  const { types } = options;
  const stream = cli.client().events.stream({ signal, types, after: options.after });
  const doing = target === undefined ? 'Listening' : `Listening, and sending events to ${target}`;
  cli.out.note(`Signing secret: ${secret}`);
  try {
    for await (const item of stream) {
      if (item.kind !== 'event') tellOfConnection(cli.out, item, doing);
      else if (types !== undefined || isUsual(item.event)) {
        await handOn(cli, item.event, secret, target);
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Tells whether a webhook without types gets such an event. */
export function isUsual({ type }: Pick<Event, 'type'>): boolean {
  return !onlyWhenNamed.test(type);
}

function receiverOf(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url.href;
  throw usageFailure(`"${given}" is not an address.`, 'It looks like http://localhost:3000/hooks');
}

/** Sends one event, and says what became of it. It is sent once: a receiver that is away misses it. */
async function handOn(cli: Cli, event: Event, secret: string, target: string | undefined): Promise<void> {
  const { out } = cli;
  const startedMs = cli.surroundings.now();
  const outcome = target === undefined ? undefined : await send(cli, event, secret, target);
  const tookMs = cli.surroundings.now() - startedMs;
  if (out.isJson) {
    out.jsonLine({ event, ...(outcome && { ...outcome, durationMs: tookMs }) });
    return;
  }
  const what = `${clockTime(event.createdAt)}  ${pad(event.type, 22)}`;
  if (outcome === undefined) out.print(`${what}  ${event.entityId}`);
  else if (outcome.status === null)
    out.print(`${what}  ${out.paint('red', 'no answer')}: ${outcome.fault ?? ''}`);
  else
    out.print(
      `${what}  ${out.paint(outcome.status < 300 ? 'green' : 'red', String(outcome.status))} in ${tookMs} ms`,
    );
}

interface Outcome {
  readonly status: number | null;
  readonly fault: string | null;
}

async function send(cli: Cli, event: Event, secret: string, target: string): Promise<Outcome> {
  const body = JSON.stringify(event);
  const at = new Date(cli.surroundings.now());
  try {
    const response = await fetch(target, {
      method: 'POST',
      redirect: 'manual',
      signal: AbortSignal.timeout(answerWithinMs),
      headers: {
        'content-type': 'application/json',
        'user-agent': 'gpu-rental-webhooks/1',
        ...(await signWebhook(body, event.id, secret, at)),
      },
      body,
    });
    await response.body?.cancel();
    return { status: response.status, fault: null };
  } catch (error) {
    if (cli.signal.aborted) throw new Failure('givenUp', 'Ended.', undefined, { cause: error });
    return { status: null, fault: faultOf(error) };
  }
}

function faultOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return 'not within 10 s';
  if (error.cause instanceof Error && 'code' in error.cause) {
    return error.cause.code === 'ECONNREFUSED' ? 'nothing listens there' : String(error.cause.code);
  }
  return error.message;
}
