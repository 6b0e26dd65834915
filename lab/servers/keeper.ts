import { spawn, type ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';

/**
 * A shell that reads which processes we run, and ends them once its input closes. The kernel closes it whenever we die,
 * kill -9 included, so that no server outlives the program that started it. It asks the newest process first, and does
 * not wait for one before it asks the next: this follows a crash, not an orderly stop.
 */
const script = `
kept=''
while read -r word pid signal; do
  case "$word" in
    keep) kept="$pid:$signal $kept" ;;
    drop)
      rest=''
      for item in $kept; do
        [ "\${item%%:*}" = "$pid" ] || rest="$rest$item "
      done
      kept="$rest"
      ;;
  esac
done
for item in $kept; do
  kill -s "\${item##*:}" -- "-\${item%%:*}" 2>/dev/null
done
waited=0
while [ "$waited" -lt 50 ]; do
  left=''
  for item in $kept; do
    kill -s 0 -- "-\${item%%:*}" 2>/dev/null && left="$left$item "
  done
  [ -n "$left" ] || exit 0
  kept="$left"
  sleep 0.2
  waited=$((waited + 1))
done
for item in $kept; do
  kill -s KILL -- "-\${item%%:*}" 2>/dev/null
done
exit 0
`;

let keeper: ChildProcess | undefined;

/**
 * Ends a process group if this process dies without having dropped it.
 * @param pid leader of a process group (spawned with `detached`)
 * @param signal asks it to end; after 10 s it is killed
 */
export function keep(pid: number, signal: 'INT' | 'TERM'): void {
  tell(`keep ${pid} ${signal}`);
}

/** Removes an ended process from the keeper's list, before another process can get its pid. */
export function drop(pid: number): void {
  tell(`drop ${pid}`);
}

function tell(line: string): void {
  keeper ??= startKeeper();
  keeper.stdin?.write(`${line}\n`);
}

function startKeeper(): ChildProcess {
  // Its own process group: a Ctrl-C in the terminal must not reach it.
  const child = spawn('/bin/sh', ['-c', script], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: '/',
  });
  child.unref();
  (child.stdin as unknown as Socket).unref();
  // Without a keeper the servers still stop in order; only a crash of this process would leave them running.
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);
  return child;
}
