import { join } from 'node:path';
import { makeAuthority, variablesOf } from '../../lab/servers/certificates.js';
import { findHaproxy, startGate } from '../../lab/servers/haproxy.js';
import type { Program } from '../../lab/servers/program.js';
import { serverNameOfTemporal, type TemporalOnPostgres } from '../../lab/servers/temporal-on-postgres.js';
import type { StackSettings } from '../../lab/stack/settings.js';

/** How the processes enter Temporal. */
export interface Entry {
  /** Where they look for it. */
  readonly port: number;
  /** What the server itself shows and takes. */
  readonly tls: TemporalOnPostgres['tls'];
  /** The variables by which a process shows the certificate of its role. */
  shows(role: 'api' | 'worker' | 'ops'): NodeJS.ProcessEnv;
  /** Starts what stands before the server. @throws Error where HAProxy is not installed */
  open(settings: StackSettings, address: string): Promise<readonly Program[]>;
}

/** Without encryption, for an earlier release that knows none. @param port the server's own */
export function plainEntry(port: number): Entry {
  return { port, tls: undefined, shows: () => ({}), open: () => Promise.resolve([]) };
}

/**
 * By HAProxy, with two authorities: the processes' certificates are of the outer one, and the server takes the inner
 * one's alone.
 * @param folder the folder of the topology's data
 */
export function guardedEntry(folder: string, port: number): Entry {
  const outer = makeAuthority(join(folder, 'certificates', 'outer'));
  const inner = makeAuthority(join(folder, 'certificates', 'inner'));
  return {
    port,
    tls: { authority: inner, identity: inner.issue(serverNameOfTemporal) },
    shows: (role) => variablesOf(outer, outer.issue(`gpu-rental-${role}`)),
    async open({ cliPlaces }, address) {
      const command = findHaproxy(cliPlaces.searchPath);
      if (command === undefined) {
        throw new Error('HAProxy stands before Temporal: install it (apt-get install haproxy).');
      }
      const gate = await startGate({
        ...{ command, port, logFile: join(folder, 'logs', 'temporal-gate.log') },
        outer: { authority: outer, identity: outer.issue('temporal-gate') },
        server: { address, name: serverNameOfTemporal, authority: inner, identity: inner.issue('gate') },
      });
      return [gate];
    },
  };
}
