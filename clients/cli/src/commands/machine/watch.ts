import type { GpuRental, StreamItem } from '@gpu-rental/client';
import type { Cli } from '../../cli.js';
import type { AddCommand } from '../../command.js';
import { usd } from '../../output/money.js';
import { clockTime } from '../../output/time.js';
import { LiveState, sentenceOf } from '../../watch/live-state.js';
import { Screen } from '../../watch/screen.js';
import { viewOf } from '../../watch/view.js';

const drawEveryMs = 1_000;
const newsKept = 4;

/** gpu watch */
export const addWatch: AddCommand = (program, act) => {
  program
    .command('watch')
    .summary('watch what your machines cost, live')
    .description(
      'Watch what your machines cost and what happens to them, live. Press q or ctrl-C to end it. In a pipe it writes one line per change; with --json, one JSON object.',
    )
    .action(
      act(async (cli) => {
        await watch(cli);
        return undefined;
      }),
    );
};

async function watch(cli: Cli): Promise<void> {
  const client = cli.client();
  const ended = new AbortController();
  const end = (): void => ended.abort();
  cli.signal.addEventListener('abort', end, { once: true });
  const stopKeys = listenForKeys(cli, end);
  const show = cli.out.isJson
    ? jsonLines(cli)
    : cli.surroundings.stdout.isTTY === true
      ? drawn(cli)
      : textLines(cli);
  try {
    await follow(cli, client, show, ended.signal);
  } catch (error) {
    if (!ended.signal.aborted) throw error;
  } finally {
    show.end();
    stopKeys();
    cli.signal.removeEventListener('abort', end);
  }
}

/** One way to show what a stream tells. */
interface Show {
  take(item: StreamItem, state: LiveState): void;
  /** The state was read anew. */
  refresh(state: LiveState): void;
  end(): void;
}

async function follow(cli: Cli, client: GpuRental, show: Show, signal: AbortSignal): Promise<void> {
  const state = new LiveState();
  await readAnew(cli, client, state, signal);
  show.refresh(state);
  for await (const item of client.events.stream({ signal })) {
    state.take(item, cli.surroundings.now());
    if (needsReading(item)) await readAnew(cli, client, state, signal);
    show.take(item, state);
  }
}

/** Names are in no stream, and after a gap nothing is known. */
function needsReading(item: StreamItem): boolean {
  if (item.kind === 'event') return item.event.type.startsWith('rental.');
  return item.kind === 'resync';
}

async function readAnew(cli: Cli, client: GpuRental, state: LiveState, signal: AbortSignal): Promise<void> {
  const states = ['provisioning', 'running', 'stopping'] as const;
  const [balance, ...lists] = await Promise.all([
    client.wallet.get({ signal }),
    ...states.map((status) => client.rentals.list({ status, pageSize: 200 }, { signal }).toArray()),
  ]);
  state.setBalance({ totalCents: balance.totalCents, readAt: balance.updatedAt });
  state.setRentals(lists.flat(), cli.surroundings.now());
}

/** Draws at a terminal, each second: between two messages the clock goes on. */
function drawn(cli: Cli): Show {
  const screen = new Screen(cli.surroundings.stdout);
  const news: string[] = [];
  const known: { state: LiveState | undefined } = { state: undefined };
  const draw = (): void => {
    if (!known.state) return;
    const size = { width: cli.out.width, height: screen.rows };
    screen.draw(viewOf(known.state.seen(cli.surroundings.now()), news, size, cli.out.paint));
  };
  const timer = setInterval(draw, drawEveryMs);
  return {
    take(item, state) {
      known.state = state;
      if (item.kind === 'event') {
        const sentence = sentenceOf(item.event);
        if (sentence !== undefined) news.push(`${clockTime(item.event.createdAt)}  ${sentence}`);
        news.splice(0, news.length - newsKept);
      }
      if (item.kind !== 'balance') draw();
    },
    refresh(state) {
      known.state = state;
      draw();
    },
    end() {
      clearInterval(timer);
      draw();
      screen.end();
    },
  };
}

function textLines(cli: Cli): Show {
  const { out } = cli;
  const say = (at: string | number, text: string): void => out.print(`${clockTime(at)}  ${text}`);
  return {
    take(item) {
      if (item.kind === 'event') {
        const sentence = sentenceOf(item.event);
        if (sentence !== undefined) say(item.event.createdAt, sentence);
      } else if (item.kind === 'balance') {
        const { totalCents, burnPerHourCents, readAt } = item.balance;
        say(readAt, `wallet ${usd(totalCents)}, ${usd(burnPerHourCents)} an hour`);
      } else if (item.kind === 'reconnecting') say(cli.surroundings.now(), 'no connection: trying again');
    },
    refresh: () => undefined,
    end: () => undefined,
  };
}

function jsonLines({ out }: Cli): Show {
  return {
    take(item) {
      if (item.kind === 'reconnecting') out.jsonLine({ kind: item.kind, delayMs: Math.round(item.delayMs) });
      else out.jsonLine(item);
    },
    refresh: () => undefined,
    end: () => undefined,
  };
}

/** q, ctrl-C and ctrl-D. */
const endKeys = ['q', 'Q', '\u0003', '\u0004'];

/** Takes q and ctrl-C as keys: a terminal in raw mode sends no signal. @returns a function that gives the keys back */
function listenForKeys(cli: Cli, end: () => void): () => void {
  const { stdin } = cli.surroundings;
  if (!cli.asking.canAsk || stdin.setRawMode === undefined) return () => undefined;
  const take = (chunk: Buffer | string): void => {
    if (endKeys.some((key) => String(chunk).includes(key))) end();
  };
  stdin.setRawMode(true);
  stdin.on('data', take);
  stdin.resume();
  return () => {
    stdin.off('data', take);
    stdin.setRawMode?.(false);
    stdin.pause();
  };
}
