import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { arch, platform } from 'node:process';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { placeInCache } from './cache.js';
import { endOf, goInstall } from './go-install.js';
import { withProgress, type Progress } from './progress.js';
import { cliName, findOnPath, versionOf, type FindCliOptions } from './temporal-cli-binary.js';

/** Newer tags carry replace directives in go.mod, which `go install` refuses. */
const goPackage = 'github.com/temporalio/cli/cmd/temporal@v1.5.1';
const answerLimitMs = 10_000;
const downloadLimitMs = 300_000;
const buildLimitMs = 30 * 60_000;

type FetchWay = (folder: string, options: FindCliOptions) => Promise<void>;

/**
 * Downloads the Temporal CLI, or builds it.
 * @param target the path that it shall have
 * @returns undefined once it is there, else a line for each way that failed, with the reason
 */
export async function fetchTemporalCli(
  target: string,
  options: FindCliOptions,
): Promise<string[] | undefined> {
  const faults: string[] = [];
  for (const way of [download, build]) {
    const fault = await fetchInto(way, target, options);
    if (fault === undefined) return undefined;
    options.log(fault);
    faults.push(fault);
    options.signal?.throwIfAborted();
  }
  return faults;
}

async function fetchInto(
  way: FetchWay,
  target: string,
  options: FindCliOptions,
): Promise<string | undefined> {
  try {
    await placeInCache(target, async (folder) => {
      await way(folder, options);
      const fetched = join(folder, cliName);
      if (versionOf(fetched) === undefined) throw new Error('What came does not run on this machine.');
      return fetched;
    });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function download(folder: string, { log, signal }: FindCliOptions): Promise<void> {
  const machine = arch === 'x64' ? 'amd64' : arch;
  const system = platform === 'win32' ? 'windows' : platform;
  const url = `https://temporal.download/cli/archive/latest?platform=${system}&arch=${machine}`;
  log(`no Temporal CLI on this machine yet: asking ${url}`);
  const what = 'downloading the Temporal CLI';
  try {
    await withProgress({ what, log, limitMs: downloadLimitMs, signal }, async (progress) => {
      const answer = new AbortController();
      const timer = setTimeout(
        () => answer.abort(new Error(`no answer within ${answerLimitMs / 1000} s`)),
        answerLimitMs,
      );
      const either = AbortSignal.any([answer.signal, progress.signal]);
      const response = await fetch(url, { signal: either }).finally(() => clearTimeout(timer));
      if (!response.ok || response.body === null) throw new Error(`it answered ${response.status}`);
      await unpack(Readable.fromWeb(response.body), folder, progress);
    });
  } catch (error) {
    throw new Error(`The download did not work (${reasonOf(error)}).`, { cause: error });
  }
}

async function unpack(archive: Readable, folder: string, progress: Progress): Promise<void> {
  const received = { bytes: 0 };
  archive.on('data', (chunk: Buffer) => {
    received.bytes += chunk.length;
    progress.note(`${(received.bytes / 1024 / 1024).toFixed(0)} MB`);
  });
  const tar = spawn('tar', ['-xzf', '-', '-C', folder, cliName], { stdio: ['pipe', 'ignore', 'ignore'] });
  progress.signal.addEventListener('abort', () => tar.kill('SIGKILL'));
  await Promise.all([pipeline(archive, tar.stdin, { signal: progress.signal }), endOf(tar, 'tar')]);
}

async function build(folder: string, { places, log, signal }: FindCliOptions): Promise<void> {
  const go = findOnPath('go', places.searchPath);
  if (go === undefined) throw new Error('It can not be built either: there is no "go" on the PATH.');
  log('building the Temporal CLI from source with Go: some minutes, once for all projects of this user');
  const what = 'building the Temporal CLI';
  await goInstall({
    go,
    goPackage,
    folder,
    what,
    log,
    limitMs: buildLimitMs,
    signal,
  });
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
