import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { findTemporalCli } from '../../lab/servers/temporal-cli.js';
import { findTemporalServer } from '../../lab/servers/temporal-server-build.js';
import { LEFT_OUT } from '../../lab/servers/script-run.js';
import { readStackSettings } from '../../lab/stack/settings.js';
import { findBaseFiles } from './base-files.js';
import { readComposeFile } from './compose-file.js';
import { createDockerEngine, findDockerCompose } from './docker-engine.js';
import type { Engine } from './engine.js';
import { makeImages } from './images.js';
import {
  furnish,
  hasMemoryLimits,
  layNetwork,
  makeRunFolder,
  removeRunFolder,
  runApart,
  runInOwnNetwork,
} from './namespaces.js';
import { playCompose } from './play.js';
import { endPrograms } from './podman.js';
import { createPodmanEngine } from './podman-engine.js';
import { startStandIns } from './stand-ins.js';
import { findToolFault } from './tools.js';

/**
 * `npm run test:compose`: builds the image, starts every service of docker-compose.yml in containers, plays the demo's
 * story on it from outside, and stops it in order. It uses docker compose if there is one; else podman, on images made
 * here from the same programs, in separate namespaces that end with the run. Exit code 75: neither is available.
 */
/** How long a run that was given up may clean up. */
const endLimitMs = 8_000;
const log = (line: string): void => console.log(line);
const settings = readStackSettings();
const { projectDir, cliPlaces } = settings;
const stopping = new AbortController();
const composeText = readFileSync(join(projectDir, 'docker-compose.yml'), 'utf8');
/** This machine's address in the play's own network (RFC 1918). */
const ownHostAddress = '10.77.0.1';

/** The files that are prepared outside and used inside. */
interface Prepared {
  readonly startedAtMs: number;
  readonly files: Awaited<ReturnType<typeof findBaseFiles>>;
  readonly programs: Parameters<typeof makeImages>[0]['programs'];
}

function leaveOut(reason: string): number {
  log(`left out: docker-compose.yml was NOT run (${reason}).`);
  return LEFT_OUT;
}

/** Reads the names of images; any values will do for the other variables. */
function readNames(): ReturnType<typeof readComposeFile> {
  const needed = [...composeText.matchAll(/\$\{([A-Z_]+):\?/g)].map(([, name = '']) => [name, 'x']);
  return readComposeFile(composeText, Object.fromEntries(needed) as Record<string, string>);
}

const imageOf = (service: string): string => readNames().services[service]?.image ?? '';

async function prepare(startedAtMs: number): Promise<Prepared> {
  const uiVersion = imageOf('temporal-ui').split(':')[1] ?? '';
  const server = await findTemporalServer(cliPlaces, log, stopping.signal);
  const temporalCli = await findTemporalCli({ places: cliPlaces, log, signal: stopping.signal });
  const programs = { temporalServer: server.server, temporalSqlTool: server.sqlTool, temporalCli };
  return { startedAtMs, programs, files: await findBaseFiles(cliPlaces, uiVersion, log) };
}

/** Outside the namespaces: finds or fetches the files, and runs the rest inside. */
async function runByPodman(startedAtMs: number): Promise<number> {
  const fault = await findToolFault(cliPlaces.searchPath, log);
  stopping.signal.throwIfAborted();
  if (fault !== undefined) return leaveOut(fault);
  let prepared: Prepared;
  try {
    prepared = await prepare(startedAtMs);
  } catch (error) {
    stopping.signal.throwIfAborted();
    return leaveOut(`what the images are made of can not be had: ${String(error)}`);
  }
  const folder = await makeRunFolder();
  const plan = `${folder}.json`;
  try {
    stopping.signal.throwIfAborted();
    writeFileSync(plan, JSON.stringify(prepared), { mode: 0o600 });
    return await runApart(folder, stopping.signal);
  } finally {
    rmSync(plan, { force: true });
    await removeRunFolder(folder);
  }
}

function readPrepared(folder: string): Prepared {
  return JSON.parse(readFileSync(`${folder}.json`, 'utf8')) as Prepared;
}

/** Inside the namespaces: makes the images with this machine's network, and runs them without it. */
async function runInside(folder: string): Promise<number> {
  await furnish(folder);
  await makeImages(
    { folder, projectDir, log, ...readPrepared(folder) },
    {
      app: imageOf('api'),
      node: /^FROM (\S+)/m.exec(readFileSync(join(projectDir, 'Dockerfile'), 'utf8'))?.[1] ?? '',
      postgres: imageOf('postgres'),
      server: imageOf('temporal'),
      adminTools: imageOf('temporal-schema'),
      ui: imageOf('temporal-ui'),
    },
  );
  return runInOwnNetwork(folder);
}

/** In its own network: starts the stand-ins for the outside, and plays. */
async function runPlay(folder: string): Promise<number> {
  const { startedAtMs, files } = readPrepared(folder);
  await layNetwork(ownHostAddress, folder);
  if (files.ui === null) log('left out: temporal-ui (its program can not be built here)');
  log('left out: mailpit (its image can not be had here: mails go to the lab’s own catcher, outside)');
  return playWith(folder, startedAtMs, ownHostAddress, (variables) =>
    createPodmanEngine({
      projectDir,
      folder,
      log,
      hostAddress: ownHostAddress,
      signal: stopping.signal,
      file: readComposeFile(composeText, variables),
      profiles: files.ui === null ? [] : ['ui'],
      limitMemory: hasMemoryLimits(),
      cgroupParent: `/${basename(folder)}`,
    }),
  );
}

async function playWith(
  folder: string,
  startedAtMs: number,
  hostAddress: string,
  engineOf: (variables: Readonly<Record<string, string>>) => Engine,
): Promise<number> {
  const standIns = await startStandIns(hostAddress, folder);
  const engine = engineOf(standIns.variables);
  const file = readComposeFile(composeText, standIns.variables);
  try {
    const faults = await playCompose({
      engine,
      file,
      standIns,
      startedAtMs,
      log,
      signal: stopping.signal,
    });
    for (const fault of faults) log(`FAULT: ${fault}`);
    const seconds = Math.round((Date.now() - startedAtMs) / 1000);
    log(faults.length === 0 ? `docker-compose.yml runs: ${seconds} s in all` : `${faults.length} faults`);
    return faults.length === 0 ? 0 : 1;
  } catch (error) {
    for (const name of ['temporal', 'worker', 'api']) log(`${name}:\n${await engine.logsOf(name)}`);
    throw error;
  } finally {
    await engine.remove();
    await standIns.close();
  }
}

async function run(): Promise<number> {
  const [phase, folder = ''] = process.argv.slice(2);
  if (phase === 'inside') return runInside(folder);
  if (phase === 'play') return runPlay(folder);
  const startedAtMs = Date.now();
  const docker = await findDockerCompose();
  if (docker === undefined) return runByPodman(startedAtMs);
  const own = await makeRunFolder();
  try {
    return await playWith(own, startedAtMs, docker.hostAddress, (variables) =>
      createDockerEngine({ projectDir, folder: own, hostAddress: docker.hostAddress, variables, log }),
    );
  } finally {
    await removeRunFolder(own);
  }
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    stopping.abort(new Error('given up'));
    endPrograms();
    setTimeout(endNow, endLimitMs).unref();
  });
}
/** Ends while something still hangs. The next run removes what this one leaves. */
function endNow(): void {
  console.error(`given up after ${endLimitMs / 1000} s: the next run removes what is left`);
  process.exit(130);
}

try {
  process.exitCode = await run();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
if (stopping.signal.aborted) process.exitCode = 130;
process.exit();
