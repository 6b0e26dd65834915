import { createHash } from 'node:crypto';
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
  /** 255 when the login failed, as OpenSSH reports it. */
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** `SHA256:…` of the key that the machine showed; null when it showed none. */
  readonly hostKeyFingerprint: string | null;
}

interface SshClient {
  /** Logs in, runs the command, and waits until it has ended. */
  run(login: Login): Promise<LoginResult>;
}

const limitMs = 30_000;

/** The client of the npm package ssh2, for machines without OpenSSH. */
export const libraryClient: SshClient = {
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
