import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import type { ServerChannel, Session } from 'ssh2';
import { killGroup, type PodProcesses, type Terminal } from './pod-processes.js';

/** Bounds for a client's terminal size. */
const MAX_SIDE = 1000;

/** Serves one SSH session: a command or a shell, with or without a terminal. */
export function serveSession(session: Session, processes: PodProcesses): void {
  let terminal: Terminal | null = null;
  let pid: number | undefined;

  const start = (channel: ServerChannel, line: string | null): void => {
    pid = serveCommand(channel, processes, line, terminal);
  };
  session.on('pty', (accept, _reject, info) => {
    terminal = {
      term: 'term' in info && typeof info.term === 'string' ? info.term : 'xterm',
      rows: bounded(info.rows, 24),
      cols: bounded(info.cols, 80),
    };
    answer(accept);
  });
  // The variables that clients send by default (such as LANG) are accepted and not used.
  session.on('env', (accept) => answer(accept));
  session.on('window-change', (accept) => answer(accept));
  session.on('signal', (_accept, _reject, info) => {
    const name = `SIG${info.name}`;
    if (isSignal(name)) killGroup(pid, name);
  });
  session.on('exec', (accept, _reject, info) => start(accept(), info.command));
  session.on('shell', (accept) => start(accept(), null));
}

/** Requests that want no reply come without a function for it, contrary to the types. */
function answer(accept: (() => void) | undefined): void {
  accept?.();
}

function isSignal(name: string): name is NodeJS.Signals {
  return Object.hasOwn(constants.signals, name);
}

function bounded(side: number, otherwise: number): number {
  return Number.isInteger(side) && side > 0 && side <= MAX_SIDE ? side : otherwise;
}

/**
 * Passes on a command's two outputs, one write at a time. Output that waited for the client's window is dropped once it
 * is written: the library keeps it, and sends it again when the other stream waits (seen under load: bytes sent twice,
 * and writes after the end).
 * @returns a function that waits until all output so far is written
 */
function pump(channel: ServerChannel, stdout: Readable, stderr: Readable): () => Promise<void> {
  const queue = { last: Promise.resolve() };
  const write = (target: Writable, chunk: Buffer): Promise<void> =>
    new Promise((resolve) => {
      target.write(chunk, () => {
        Object.assign(channel, { _chunk: undefined, _chunkcb: undefined });
        Object.assign(channel, { _chunkErr: undefined, _chunkcbErr: undefined });
        resolve();
      });
    });
  const pass = (source: Readable, target: Writable): void => {
    source.on('data', (chunk: Buffer) => {
      source.pause();
      queue.last = queue.last.then(() => write(target, chunk)).then(() => void source.resume());
    });
  };
  pass(stdout, channel);
  pass(stderr, channel.stderr);
  return () => queue.last;
}

/** Runs the command with the channel as its input and output, and reports how it ended. */
function serveCommand(
  channel: ServerChannel,
  processes: PodProcesses,
  line: string | null,
  terminal: Terminal | null,
): number | undefined {
  const child = processes.run({ line, terminal });
  const written = pump(channel, child.stdout, child.stderr);
  channel.pipe(child.stdin);
  // The client has left: nobody reads the output, and no process may stay.
  channel.on('close', () => {
    killGroup(child.pid);
    for (const output of [child.stdout, child.stderr]) output.removeAllListeners('data').resume();
  });
  channel.on('error', () => killGroup(child.pid));
  const finish = (report: () => void): void => {
    // All written output goes out before the end of the channel.
    void written().then(() => {
      report();
      channel.end();
    });
  };
  child.on('error', (error) => {
    channel.stderr.write(`the command can't be started: ${error.message}\n`, () =>
      finish(() => channel.exit(127)),
    );
  });
  child.on('close', (code, signal) => {
    finish(() => {
      if (signal === null) channel.exit(code ?? 255);
      else channel.exit(signal.replace(/^SIG/, ''));
    });
  });
  return child.pid;
}
