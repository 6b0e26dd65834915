import { elapsed } from '../demo/stage.js';
import { openStage, playStory } from '../demo/story.js';
import { findDashboardFaults, findLockFaults, findMemory, findUiFaults } from './checks.js';
import type { ComposeFile } from './compose-file.js';
import type { Engine } from './engine.js';
import type { StandIns } from './stand-ins.js';

export interface Play {
  readonly engine: Engine;
  readonly file: ComposeFile;
  readonly standIns: StandIns;
  readonly startedAtMs: number;
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
}

/** The services that stay up once all have started. */
const lasting = ['postgres', 'temporal-postgres', 'temporal', 'worker', 'api'];

/**
 * Starts all services of the compose file, plays the demo's story on them from outside, looks at each container from
 * inside, and stops them in order.
 * @returns the faults
 */
export async function playCompose(play: Play): Promise<string[]> {
  const { engine, standIns, startedAtMs, log, signal } = play;
  const say = (line: string): void => log(`${elapsed({ startedAtMs })}  ${line}`);
  say('Start every service, in the order of its conditions');
  await engine.up();
  const hasUi = engine.profiles.includes('ui');
  const running = [...lasting, ...(hasUi ? ['temporal-ui'] : [])];
  say('Look at each container from inside');
  const faults = (await Promise.all(running.map((name) => findLockFaults(engine, name, play.file)))).flat();
  const { api, mail, processor, ui } = standIns.urls;
  faults.push(...(await findDashboardFaults(api)));
  await playStory(openStage({ urls: { api, mail, processor }, log, startedAtMs, signal }));
  if (hasUi) {
    say('Try to change something in Temporal’s UI');
    faults.push(...(await findUiFaults(ui)));
  }
  say('Run once more what runs once, and ask the operators’ tool');
  faults.push(...(await runAgain(engine)));
  faults.push(...(await tellMemory(play, running)));
  say('Stop it in order');
  for (const { service, code } of await engine.stop()) {
    // Both processes of the service end by themselves, without a complaint; 137: they were killed.
    const isOurs = ['api', 'worker', 'postgres', 'temporal-postgres'].includes(service);
    if (code === 137 || (isOurs && code !== 0)) faults.push(`${service}: its stop ended with ${code}`);
  }
  return faults;
}

async function runAgain(engine: Engine): Promise<string[]> {
  const faults: string[] = [];
  const once: readonly (readonly [string, readonly string[]])[] = [
    ['temporal-schema', []],
    ['temporal-namespace', []],
    ['migrate', []],
    ['ops', ['ledger', 'verify']],
  ];
  for (const [service, args] of once) {
    const { code, stdout, stderr } = await engine.runOnce(service, args);
    if (code !== 0)
      faults.push(
        `${[service, ...args].join(' ')} ended with ${code}: ${`${stdout}${stderr}`.slice(-2_000)}`,
      );
  }
  return faults;
}

const mebi = 1024 * 1024;

/** Shows the memory that each container has needed, and finds limits that differ from the file's. */
async function tellMemory({ engine, file, log }: Play, running: readonly string[]): Promise<string[]> {
  const faults: string[] = [];
  for (const service of running) {
    const memory = await findMemory(engine, service);
    if (memory === undefined) {
      log(`${' '.repeat(10)}memory limits: left out, this machine has none to give`);
      break;
    }
    const [limit, peak] = [memory.limit / mebi, memory.peak / mebi];
    log(`${' '.repeat(10)}${service}: at most ${Math.round(peak)} MiB of ${Math.round(limit)} were used`);
    if (limit !== mebibytesOf(file.services[service]?.mem_limit ?? ''))
      faults.push(`${service}: its memory has no limit`);
  }
  return faults;
}

function mebibytesOf(text: string): number {
  return Number.parseInt(text, 10) * (text.endsWith('g') ? 1024 : 1);
}
