import { parse } from 'yaml';

export type WaitCondition = 'service_started' | 'service_healthy' | 'service_completed_successfully';

/** The check that tells whether a container is well. */
export interface HealthCheck {
  /** CMD and its arguments, or CMD-SHELL and one line. */
  readonly test: readonly string[];
  readonly interval?: string;
  readonly timeout?: string;
  readonly start_period?: string;
  readonly retries?: number;
}

/**
 * A service, with the parts of the Compose Specification that docker-compose.yml uses (test/deploy/compose-schema.ts).
 */
export interface Service {
  readonly image: string;
  readonly build?: string;
  readonly init?: boolean;
  readonly user?: string;
  readonly profiles?: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly networks: readonly string[];
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly tmpfs?: readonly string[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly mem_limit?: string;
  readonly shm_size?: string;
  readonly stop_grace_period?: string;
  readonly depends_on?: Readonly<Record<string, { readonly condition: WaitCondition }>>;
  readonly healthcheck?: HealthCheck;
}

export interface ComposeFile {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean } | null>>;
  readonly volumes: Readonly<Record<string, null>>;
}

type Variables = Readonly<Record<string, string>>;

/**
 * Reads a compose file as docker compose does: aliases merged and variables filled in. A variable without a value in
 * `environment` comes from outside, or is left out where it is not set there.
 * @throws Error naming a variable that must be set
 */
export function readComposeFile(text: string, variables: Variables): ComposeFile {
  const raw: unknown = parse(text, { merge: true });
  const file = fillIn(raw, variables) as ComposeFile;
  const services = Object.entries(file.services).map(([name, service]) => [
    name,
    { ...service, environment: environmentOf(service, variables) },
  ]);
  return { ...file, services: Object.fromEntries(services) as ComposeFile['services'] };
}

function environmentOf(service: Service, variables: Variables): Record<string, string> {
  const entries = Object.entries((service.environment ?? {}) as Record<string, string | number | null>);
  return Object.fromEntries(
    entries.flatMap(([name, value]) => {
      const given = value ?? variables[name];
      return given === undefined ? [] : [[name, String(given)]];
    }),
  );
}

/** Fills variables into every text. */
function fillIn(value: unknown, variables: Variables): unknown {
  if (typeof value === 'string') return interpolate(value, variables);
  if (Array.isArray(value)) return value.map((item) => fillIn(item, variables));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillIn(item, variables)]));
}

/** `$$`, `${NAME}`, `${NAME:-default}` and `${NAME:?message}`; empty counts as not set in the latter two. */
export function interpolate(text: string, variables: Variables): string {
  return text.replace(
    /\$(?:(\$)|\{([A-Za-z_][A-Za-z0-9_]*)(?::([-?])([^}]*))?\})/g,
    (_whole, dollar: string | undefined, name = '', rule?: string, rest = '') => {
      if (dollar !== undefined) return '$';
      const value = variables[name as string] ?? '';
      if (value !== '' || rule === undefined) return value;
      if (rule === '?') throw new Error(`${name as string} must be set: ${rest as string}`);
      return rest as string;
    },
  );
}

/** The services that start when these profiles are named, including services without profiles. */
export function servicesOf(file: ComposeFile, profiles: readonly string[]): string[] {
  return Object.entries(file.services)
    .filter(([, service]) => service.profiles?.some((name) => profiles.includes(name)) ?? true)
    .map(([name]) => name);
}

/** @throws Error for a text that is not a duration such as 90s or 1m30s */
export function millisecondsOf(duration: string): number {
  const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
  const parts = [...duration.matchAll(/(\d+)(ms|s|m|h)/g)];
  if (parts.length === 0 || parts.map(([whole]) => whole).join('') !== duration) {
    throw new Error(`"${duration}" is no duration, such as 90s.`);
  }
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * (units[unit ?? ''] ?? 0), 0);
}

/** The order in which services stop: dependents first. */
export function inStopOrder(file: ComposeFile, names: readonly string[]): string[] {
  const order: string[] = [];
  const visit = (name: string): void => {
    if (order.includes(name)) return;
    for (const other of Object.keys(file.services[name]?.depends_on ?? {})) visit(other);
    order.push(name);
  };
  names.forEach(visit);
  return order.filter((name) => names.includes(name)).reverse();
}
