import { isNotebook, notebookPort, portsOf } from './notebook.js';
import type { SoftwareOutline, SoftwarePort } from './software.js';

/** Where an upstream has opened one port of a machine. */
export interface PodPort {
  /** On the machine. */
  readonly port: number;
  /** Its own address for a browser, on the upstream's domain; null where host and port are told. */
  readonly url: string | null;
  readonly host: string | null;
  readonly hostPort: number | null;
  /** Whether it is another one after the machine was restarted. */
  readonly changesOnRestart: boolean;
}

/** How a machine is reached from outside, besides SSH. */
export interface PodReach {
  readonly host: string | null;
  /** null: its upstream maps no ports, and each is open at the machine's own address. */
  readonly ports: readonly PodPort[] | null;
}

/** A named port of own software, as an answer tells it (decision 156, "Open ports"). It never holds a token. */
export interface Endpoint {
  readonly name: string;
  readonly kind: SoftwarePort['kind'];
  /** On the machine: where a tunnel leads. */
  readonly machinePort: number;
  readonly public: boolean;
  /** Of a public http port; null until it is open. */
  readonly url: string | null;
  /** Of a public tcp port; null until it is open. */
  readonly host: string | null;
  readonly port: number | null;
  readonly tls: boolean;
  /** Whether it asks for a token of ours; what a renter's own software asks for, nobody knows here. */
  readonly auth: 'token' | 'none';
  readonly changesOnRestart: boolean;
}

/** The endpoints of a machine. One that is not public has no address: a tunnel over SSH leads to it. */
export function endpointsOf(
  templateId: string,
  software: Pick<SoftwareOutline, 'ports'> | null,
  reach: PodReach,
): Endpoint[] {
  return portsOf(templateId, software).map((port) => {
    const open = port.public ? openedAt(port, reach) : undefined;
    return {
      ...{ name: port.name, kind: port.kind, machinePort: port.port, public: port.public },
      ...addressOf(port, open),
      auth: asksForToken(templateId, port) ? 'token' : 'none',
      changesOnRestart: open?.changesOnRestart ?? false,
    };
  });
}

/** Tells whether a port of a rental asks for a token of ours. */
export function asksForToken(templateId: string, { port }: Pick<SoftwarePort, 'port'>): boolean {
  return isNotebook(templateId) && port === notebookPort.port;
}

/** Where a public port is open; undefined while its upstream has not told. */
export function openedAt({ port }: SoftwarePort, { host, ports }: PodReach): PodPort | undefined {
  if (ports !== null) return ports.find((mapped) => mapped.port === port);
  return host === null ? undefined : { port, url: null, host, hostPort: port, changesOnRestart: false };
}

function addressOf(
  { kind }: SoftwarePort,
  open: PodPort | undefined,
): Pick<Endpoint, 'url' | 'host' | 'port' | 'tls'> {
  const { url = null, host = null, hostPort = null } = open ?? {};
  if (url !== null) return { url, host: null, port: null, tls: url.startsWith('https:') };
  if (host === null || hostPort === null) return { url: null, host: null, port: null, tls: false };
  if (kind === 'tcp') return { url: null, host, port: hostPort, tls: false };
  const name = host.includes(':') ? `[${host}]` : host;
  return { url: `http://${name}:${hostPort}/`, host: null, port: null, tls: false };
}
