import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import pg from 'pg';

/** How the driver reaches one host of an address. */
export interface HostSettings {
  readonly connectionString: string;
  readonly ssl?: ConnectionOptions;
}

/** The scheme, the login, the hosts, and the rest; a password's own `@` and `/` are written %40 and %2F. */
const parts = /^(postgres(?:ql)?:\/\/)((?:[^@/?]*@)?)([^@/?]+)((?:[/?].*)?)$/;
/** Parameters that are read here. The driver takes every encrypting mode for `verify-full`. */
const ownParameters = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'target_session_attrs'] as const;
const modes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];

/**
 * Reads an address of PostgreSQL as libpq does: several hosts, separated by commas, each with its port
 * (`postgres://user:password@a:5432,b:5432/gpu_rental`), and `sslmode` with the meaning that hosts' pages give it.
 * @returns the settings for each host, in their order
 * @throws Error for what is no such address, naming the part
 */
export function hostsOf(url: string): readonly HostSettings[] {
  const [, scheme = '', login = '', hosts, rest = ''] = parts.exec(url) ?? [];
  if (hosts === undefined) throw new Error('must be postgres://user:password@host:port/database');
  return hosts.split(',').map((host) => {
    if (host === '') throw new Error('has an empty host between two commas');
    let one: URL;
    try {
      one = new URL(`${scheme}${login}${host}${rest}`);
    } catch {
      throw new Error('must be postgres://user:password@host:port/database');
    }
    const ssl = encryptionOf(one.searchParams);
    for (const name of ownParameters) one.searchParams.delete(name);
    return { connectionString: one.href, ...(ssl && { ssl }) };
  });
}

/** `require` encrypts and asks nothing of the certificate; `verify-ca` asks who signed it; `verify-full` its name too. */
function encryptionOf(parameters: URLSearchParams): ConnectionOptions | undefined {
  const mode = parameters.get('sslmode') ?? 'disable';
  if (!modes.includes(mode)) throw new Error(`has sslmode=${mode}; it may be ${modes.join(', ')}`);
  if (mode === 'disable') return undefined;
  const root = parameters.get('sslrootcert');
  const verifies = mode.startsWith('verify') || (mode === 'require' && root !== null);
  return {
    ...textOf('cert', parameters.get('sslcert')),
    ...textOf('key', parameters.get('sslkey')),
    ...(root !== 'system' && textOf('ca', root)),
    ...(!verifies && { rejectUnauthorized: false }),
    ...(verifies && mode !== 'verify-full' && { checkServerIdentity: () => undefined }),
  };
}

function textOf(name: 'cert' | 'key' | 'ca', file: string | null): ConnectionOptions {
  return file === null ? {} : { [name]: readFileSync(file, 'utf8') };
}

/**
 * Finds the host that takes writes, for what needs one connection after another to the same server.
 * @throws the last host's fault when none does
 */
export async function primaryOf(url: string): Promise<HostSettings> {
  const hosts = hostsOf(url);
  let fault: unknown;
  for (const host of hosts) {
    if (hosts.length === 1) return host;
    try {
      if (!(await isStandby(host))) return host;
      fault = new HostIsStandby();
    } catch (error) {
      fault = error;
    }
  }
  throw fault;
}

/** A host is a standby: nothing was sent to it, and one may be promoted at any moment. */
export class HostIsStandby extends Error {
  override readonly name = 'HostIsStandby';
  readonly code = 'DATABASE_STANDBY';
  constructor() {
    super('No host of DATABASE_URL takes writes: one that answers is a standby.');
  }
}

async function isStandby(host: HostSettings): Promise<boolean> {
  const client = new pg.Client({ ...host, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ standby: boolean }>('select pg_is_in_recovery() as standby');
    return rows[0]?.standby === true;
  } finally {
    await client.end().catch(() => undefined);
  }
}
