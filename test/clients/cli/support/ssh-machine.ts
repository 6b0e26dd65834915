import { spawn } from 'node:child_process';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { connect, type AddressInfo } from 'node:net';
import { existsSync } from 'node:fs';
import ssh2, { type Connection, type Session } from 'ssh2';

const sftpServer = [
  '/usr/lib/openssh/sftp-server',
  '/usr/lib/ssh/sftp-server',
  '/usr/libexec/sftp-server',
].find((file) => existsSync(file));

/** Whether this system has what serves SFTP. */
export const hasSftp = sftpServer !== undefined;

/** A machine on loopback with an SSH daemon: commands, files and forwards, for whoever has one of the keys. */
export class SshMachine {
  readonly #server: ssh2.Server;
  readonly #connections = new Set<Connection>();
  /** The user names and fingerprints of who was let in. */
  readonly entered: { readonly username: string; readonly fingerprint: string }[] = [];
  /** The fingerprints that are let in; undefined: all. */
  letsIn: readonly string[] | undefined;
  /** Old and small systems have no SFTP. */
  servesSftp = true;

  private constructor(
    readonly hostKey: string,
    readonly fingerprint: string,
  ) {
    this.#server = new ssh2.Server({ hostKeys: [hostKey], ident: 'test' }, (connection) =>
      this.#serve(connection),
    );
  }

  /** @param port the port of a machine of before; default: a free one */
  static async start(port = 0): Promise<SshMachine> {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const pem = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
    const machine = new SshMachine(pem, fingerprintOf(pem));
    await new Promise<void>((resolve) => machine.#server.listen(port, '127.0.0.1', resolve));
    return machine;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** How many are connected. */
  get connected(): number {
    return this.#connections.size;
  }

  async stop(): Promise<void> {
    for (const connection of this.#connections) connection.end();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  /** Asks as `fetch` does. The mock's machines are at addresses that nobody has: in its answers they are this one. */
  told(over: { port?: number; hostKeyFingerprint?: string | null } = {}): typeof fetch {
    const shown = over.hostKeyFingerprint === undefined ? this.fingerprint : over.hostKeyFingerprint;
    return async (input, init) => {
      const response = await fetch(input, init);
      if (!response.headers.get('content-type')?.startsWith('application/json')) return response;
      const text = (await response.text())
        .replace(/"host":"203[^"]*"/g, '"host":"127.0.0.1"')
        .replace(/"port":22\b/g, `"port":${over.port ?? this.port}`)
        .replace(/"username":"root"/g, '"username":"ubuntu"')
        .replace(/"hostKeyFingerprint":"[^"]*"/g, `"hostKeyFingerprint":${JSON.stringify(shown)}`);
      return new Response(text, { status: response.status, headers: response.headers });
    };
  }

  #knows(key: Buffer): boolean {
    return this.letsIn?.includes(sha256(key)) !== false;
  }

  #serve(connection: Connection): void {
    this.#connections.add(connection);
    connection.on('close', () => this.#connections.delete(connection));
    connection.on('error', () => undefined);
    connection.on('authentication', (auth) => {
      if (auth.method !== 'publickey' || !this.#knows(auth.key.data)) {
        auth.reject(['publickey']);
        return;
      }
      if (auth.signature) this.entered.push({ username: auth.username, fingerprint: sha256(auth.key.data) });
      auth.accept();
    });
    connection.on('session', (accept) => serveSession(accept(), this.servesSftp));
    connection.on('tcpip', (accept, reject, { destIP, destPort }) => {
      const socket = connect(destPort, destIP);
      socket.once('error', () => reject());
      socket.once('connect', () => {
        const channel = accept();
        channel.pipe(socket).pipe(channel);
      });
    });
  }
}

function serveSession(session: Session, servesSftp: boolean): void {
  // Requests that want no reply come without a function for it, contrary to the types.
  session.on('env', (accept) => (accept as (() => void) | undefined)?.());
  session.on('exec', (accept, _reject, { command }) => run(accept(), 'sh', ['-c', command]));
  session.on('subsystem', (accept, reject, { name }) => {
    if (name !== 'sftp' || sftpServer === undefined || !servesSftp) reject();
    else run(accept(), sftpServer, ['-e']);
  });
}

function run(channel: ssh2.ServerChannel, program: string, args: readonly string[]): void {
  const child = spawn(program, args);
  channel.once('close', () => child.kill());
  channel.pipe(child.stdin);
  child.stdin.on('error', () => undefined);
  child.stdout.on('data', (chunk: Buffer) => channel.write(chunk));
  child.stderr.on('data', (chunk: Buffer) => channel.stderr.write(chunk));
  child.once('close', (code) => {
    channel.exit(code ?? 1);
    channel.end();
  });
}

function fingerprintOf(privatePem: string): string {
  const parsed = ssh2.utils.parseKey(privatePem);
  if (parsed instanceof Error) throw parsed;
  return sha256(parsed.getPublicSSH());
}

function sha256(data: Buffer): string {
  return `SHA256:${createHash('sha256').update(data).digest('base64').replace(/=+$/, '')}`;
}
