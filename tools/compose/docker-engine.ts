import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Engine, Outcome, Stopped } from './engine.js';
import { runProgram } from './podman.js';

const answerLimitMs = 10_000;
const upLimitMs = 900_000;

/**
 * Finds a working docker with compose.
 * @returns the address of this machine on docker's default bridge, which containers reach too; undefined where there is
 * none
 */
export async function findDockerCompose(): Promise<{ hostAddress: string } | undefined> {
  const compose = await runProgram('docker', ['compose', 'version'], answerLimitMs);
  if (compose.code !== 0) return undefined;
  const format = '{{(index .IPAM.Config 0).Gateway}}';
  const bridge = await runProgram(
    'docker',
    ['network', 'inspect', 'bridge', '--format', format],
    answerLimitMs,
  );
  const hostAddress = bridge.stdout.trim();
  return bridge.code === 0 && /^[\d.]+$/.test(hostAddress) ? { hostAddress } : undefined;
}

/** Runs the compose file by docker compose itself, as a separate project. */
export function createDockerEngine(options: {
  readonly projectDir: string;
  /** For the variables; its name becomes the project's. */
  readonly folder: string;
  readonly hostAddress: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly log: (line: string) => void;
}): Engine {
  const { projectDir, folder, hostAddress, variables } = options;
  const envFile = join(folder, 'compose.env');
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(envFile, lines.join(''), { mode: 0o600 });
  const profiles = ['ui', 'mail'];
  const common = [
    ...['compose', '--project-directory', projectDir, '--env-file', envFile],
    ...['--project-name', basename(folder).toLowerCase()],
    ...profiles.flatMap((profile) => ['--profile', profile]),
  ];
  const compose = (...args: string[]): Promise<Outcome> =>
    runProgram('docker', [...common, ...args], upLimitMs);
  const must = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await compose(...args);
    if (code === 0) return stdout;
    throw new Error(`docker compose ${args[0] ?? ''} ended with ${code}: ${stderr.trim().slice(-4_000)}`);
  };
  return {
    name: 'docker compose',
    hostAddress,
    profiles,
    async up() {
      await must('up', '--build', '--detach', '--wait');
    },
    exec: (service, command) => compose('exec', '--no-TTY', service, ...command),
    runOnce: (service, args) => compose('run', '--rm', '--no-deps', '--no-TTY', service, ...args),
    async stop() {
      await must('stop');
      const told = await must('ps', '--all', '--format', 'json');
      return told
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as { Service: string; ExitCode: number })
        .map(({ Service, ExitCode }): Stopped => ({ service: Service, code: ExitCode }));
    },
    logsOf: async (service) => (await compose('logs', '--no-color', '--tail', '40', service)).stdout,
    async remove() {
      await compose('down', '--timeout', '1', '--volumes', '--remove-orphans', '--rmi', 'local');
    },
  };
}
