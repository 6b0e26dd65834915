import type { Middleware, Request } from 'koa';
import { Refusal, refusalStatus } from '../../../domain/refusal.js';
import type { ApiState } from '../../context.js';

/** The names of this machine by which a service on 127.0.0.1 is reached; nothing listens on ::1. */
const LOOPBACK = ['127.0.0.1', 'localhost'];

/** What monitors and balancers ask, by whatever address they reach a process at. It says two words, and nothing of a user. */
export const monitorPaths = { alive: '/healthz', ready: '/readyz' } as const;

const forMonitors: readonly string[] = Object.values(monitorPaths);

/** The origins of a service at a port of this machine's own names, for services that only this machine reaches. */
export function loopbackOrigins(port: number): string[] {
  return LOOPBACK.map((name) => `http://${name}:${port}`);
}

/**
 * Refuses requests for hosts that are not the service's, where those are known: a page elsewhere may point a name of its
 * own at this machine, and its visitors' browsers would take the service for a part of it. A person who opens a page reads
 * a sentence, a program its JSON.
 * @param hosts as `host:port`; null: any
 */
export function refuseUnknownHosts(hosts: readonly string[] | null): Middleware<ApiState, object> {
  const known = hosts && new Set(hosts.map(plainHost));
  return (ctx, next) => {
    const asked = ctx.get('Host');
    // Every browser sends it.
    if (known === null || asked === '' || known.has(plainHost(asked))) return next();
    if (forMonitors.includes(ctx.path)) return next();
    const message = `This service is not available as ${shown(asked)}. Open ${hosts?.[0]}.`;
    if (!opensPage(ctx.request)) throw new Refusal('unknown_host', message);
    // Plain text: the name is the asker's, and nothing in it is run.
    ctx.status = refusalStatus.unknown_host;
    ctx.set('Cache-Control', 'no-store');
    ctx.type = 'text/plain; charset=utf-8';
    ctx.body = message;
    return Promise.resolve();
  };
}

/**
 * Sends people who open a page by another name of the same place to the dashboard's own address: a cookie of one name
 * does not go along to another, as when they come back from a payment. Those names are its own with a dot at the end,
 * and those of this machine where it has one of them.
 * @param dashboardUrl without a slash at the end
 */
export function leadPagesHome(dashboardUrl: string): Middleware<ApiState, object> {
  const home = new URL(dashboardUrl);
  const isLocal = LOOPBACK.includes(home.hostname);
  const aliases = new Set([home.host, ...(isLocal ? LOOPBACK.map((name) => withPort(name, home.port)) : [])]);
  return (ctx, next) => {
    const asked = ctx.get('Host').toLowerCase();
    const isElsewhere = asked !== home.host && aliases.has(plainHost(asked));
    if (!isElsewhere || !opensPage(ctx.request)) return next();
    ctx.set('Cache-Control', 'no-store');
    // Two slashes at the beginning name another host.
    ctx.redirect(`${home.origin}/${ctx.url.replace(/^[/\\]+/, '')}`);
    return Promise.resolve();
  };
}

/** Whether a person opens a page, rather than a program that reads JSON. */
function opensPage(request: Request): boolean {
  return request.method === 'GET' && request.get('Accept').includes('text/html');
}

/** A host in lower case, without the dot that ends a full name and without the port that plain HTTP has anyway. */
function plainHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/\.(?=:\d+$|$)/, '')
    .replace(/:80$/, '');
}

function withPort(name: string, port: string): string {
  return port === '' ? name : `${name}:${port}`;
}

function shown(host: string): string {
  return host.length <= 100 ? host : `${host.slice(0, 100)}…`;
}
