import { createHash } from 'node:crypto';
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ssh2 from 'ssh2';

/** One command on one machine. */
export interface Login {
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly privatePem: string;
  readonly command: string;
}

export interface LoginResult {
  /** 255 when the login failed, as the OpenSSH client reports it. */
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** `SHA256:…` of the key that the machine showed; null when it showed none. */
  readonly hostKeyFingerprint: string | null;
}

export interface SshClient {
  readonly name: string;
  /** Logs in, runs the command, and waits until it has ended. */
  run(login: Login): Promise<LoginResult>;
}

const limitMs = 30_000;

/** Returns the OpenSSH client if it is installed, else the one of the npm package ssh2. */
export function chooseSshClient(): SshClient {
  const version = spawnSync('ssh', ['-V'], { encoding: 'utf8' });
  return version.error === undefined ? openSshClient(version.stderr.trim()) : libraryClient;
}

/** The `ssh` of this machine, kept away from its user's own settings, agent and known hosts. */
function openSshClient(name: string): SshClient {
  return {
    name,
    async run(login) {
      const folder = mkdtempSync(join(tmpdir(), 'gpu-rental-demo-'));
      try {
        const result = await spawnSsh(login, folder);
        return { ...result, hostKeyFingerprint: readKnownHost(join(folder, 'known_hosts')) };
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
  };
}

function spawnSsh(login: Login, folder: string): Promise<Omit<LoginResult, 'hostKeyFingerprint'>> {
  const identity = join(folder, 'key');
  writeFileSync(identity, login.privatePem, { mode: 0o600 });
  const settings = [
    ...['BatchMode=yes', 'IdentitiesOnly=yes', 'IdentityAgent=none', 'LogLevel=ERROR', 'ConnectTimeout=10'],
    ...['StrictHostKeyChecking=no', 'HashKnownHosts=no', 'GlobalKnownHostsFile=none'],
    `UserKnownHostsFile=${join(folder, 'known_hosts')}`,
  ];
  const args = [
    ...['-F', 'none', '-i', identity, '-p', String(login.port)],
    ...settings.flatMap((setting) => ['-o', setting]),
    ...[`${login.username}@${login.host}`, login.command],
  ];
  return new Promise((resolve, reject) => {
    const child = spawn('ssh', args, { stdio: ['ignore', 'pipe', 'pipe'], timeout: limitMs });
    const texts = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (texts.stdout += chunk));
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (texts.stderr += chunk));
    child.once('error', reject);
    child.once('close', (code) => resolve({ exitCode: code ?? 255, ...texts }));
  });
}

/** A line of known_hosts is: host, key type, key in base64. */
function readKnownHost(file: string): string | null {
  try {
    const [, , key] = readFileSync(file, 'utf8').split(/\s+/);
    return key === undefined ? null : fingerprintOf(Buffer.from(key, 'base64'));
  } catch {
    return null;
  }
}

export const libraryClient: SshClient = {
  name: 'the npm package ssh2, because there is no "ssh" on the PATH',
  run: (login) =>
    new Promise((resolve, reject) => {
      const client = new ssh2.Client();
      const state = { exitCode: 255, stdout: '', stderr: '', hostKeyFingerprint: null as string | null };
      client.once('ready', () => {
        client.exec(login.command, (error, channel) => {
          if (error) {
            reject(error);
            return;
          }
          channel.setEncoding('utf8').on('data', (chunk: string) => (state.stdout += chunk));
          channel.stderr.setEncoding('utf8').on('data', (chunk: string) => (state.stderr += chunk));
          channel.once('exit', (code: number | null) => (state.exitCode = code ?? 255));
          channel.once('close', () => client.end());
        });
      });
      client.once('error', (error) => (state.stderr += error.message));
      client.once('close', () => resolve(state));
      client.connect({
        host: login.host,
        port: login.port,
        username: login.username,
        privateKey: login.privatePem,
        readyTimeout: limitMs,
        hostVerifier: (key: Buffer) => {
          state.hostKeyFingerprint = fingerprintOf(key);
          return true;
        },
      });
    }),
};

function fingerprintOf(key: Buffer): string {
  return `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`;
}
