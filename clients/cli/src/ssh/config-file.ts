import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Cli } from '../cli.js';
import { namesInFolder, readIfThere, writePrivately } from '../config/files.js';
import { usageFailure } from '../failure.js';
import { shortId } from '../views/rental.js';
import type { Connection } from './connection.js';
import type { Reachable } from './known-hosts.js';

/** A machine and the names by which ssh finds it. */
export interface Alias {
  readonly connection: Connection;
  /** The id's first, which is unique. */
  readonly names: readonly string[];
}

/** ssh reads files with this ending alone: what a crash left of one has another. */
const ENDING = '.conf';
const header = '# Written by gpu ssh-config. What you change here is lost.';

/**
 * Names machines for ssh: by the end of the id, and by the name, unless a machine of another sign-in has it. A prefix keeps
 * them apart from other hosts.
 */
export function aliasesOf(cli: Cli, connections: readonly Connection[]): Alias[] {
  const others = filesOf(cli).filter((file) => file !== ownFile(cli));
  const taken = new Set([...connections.map(idAlias), ...others.flatMap(namesIn)]);
  return connections.map((connection) => {
    const { name } = connection.rental;
    // Other signs would be a pattern, or two names.
    const alias = name !== null && /^[\w.-]+$/.test(name) ? `gpu-${name}` : undefined;
    const isFree = alias !== undefined && !taken.has(alias);
    if (isFree) taken.add(alias);
    return { connection, names: [idAlias(connection), ...(isFree ? [alias] : [])] };
  });
}

function idAlias({ rental }: Reachable): string {
  return `gpu-${shortId(rental.id)}`;
}

/** Writes this sign-in's machines, in place of those of before. @returns the names that are gone */
export function writeAliases(cli: Cli, aliases: readonly Alias[]): { file: string; removed: string[] } {
  const file = ownFile(cli);
  const before = namesIn(file);
  const names = new Set(aliases.flatMap((alias) => alias.names));
  writePrivately(file, [header, ...aliases.map(entryOf)].map((part) => `${part}\n`).join('\n'));
  return { file, removed: before.filter((name) => !names.has(name)) };
}

function ownFile(cli: Cli, place = cli.place): string {
  return join(cli.store.paths.sshConfig, `${encodeURIComponent(place)}${ENDING}`);
}

/** The files of all sign-ins. */
function filesOf(cli: Cli): string[] {
  const folder = cli.store.paths.sshConfig;
  return namesInFolder(folder)
    .filter((name) => name.endsWith(ENDING))
    .map((name) => join(folder, name));
}

function namesIn(file: string): string[] {
  const hosts = (readIfThere(file) ?? '').matchAll(/^Host (.+)$/gm);
  return [...hosts].flatMap(([, names = '']) => names.split(' '));
}

function entryOf({ connection, names }: Alias): string {
  const { host, port, username, options } = connection;
  const settings = options.filter((option) => option !== '-o').map((setting) => setting.replace('=', ' '));
  return [
    `Host ${names.join(' ')}`,
    ...[`HostName ${host}`, `Port ${port}`, `User ${username}`, ...settings].map((line) => `  ${line}`),
  ].join('\n');
}

/** The user's own configuration of ssh, and our line in it. */
export interface Include {
  readonly file: string;
  readonly line: string;
}

/** @throws Failure where there is no home folder */
export function includeOf(cli: Cli): Include {
  const { home } = cli.surroundings;
  if (home === '') throw usageFailure('There is no home folder for ~/.ssh/config.', 'Set HOME.');
  return { file: join(home, '.ssh', 'config'), line: `Include "${cli.store.paths.sshConfig}/*${ENDING}"` };
}

/**
 * Adds our line, where it is not there yet. It stands first: below a Host it would hold for that host only.
 * @returns whether it was added
 */
export function addInclude(include: Include): boolean {
  const lines = linesOf(include);
  if (lines.some((line) => isOurs(line, include))) return false;
  writePrivately(include.file, [include.line, ...lines].join('\n'));
  return true;
}

/** Takes a sign-in's names away. */
export function removeAliases(cli: Cli, place: string): void {
  rmSync(ownFile(cli, place), { force: true });
}

/**
 * Takes a sign-in's names away, and our line with the last ones.
 * @returns whether the line was removed; undefined: another sign-in needs it
 */
export function removeInclude(cli: Cli, include: Include, place = cli.place): boolean | undefined {
  removeAliases(cli, place);
  if (filesOf(cli).length > 0) return undefined;
  const lines = linesOf(include);
  const others = lines.filter((line) => !isOurs(line, include));
  if (others.length < lines.length) writePrivately(include.file, others.join('\n'));
  rmSync(cli.store.paths.sshConfig, { recursive: true, force: true });
  return others.length < lines.length;
}

function isOurs(line: string, include: Include): boolean {
  return line.trim() === include.line;
}

function linesOf({ file, line }: Include): string[] {
  const text = readIfThere(file) ?? '';
  if (!text.includes('\uFFFD')) return text.split('\n');
  throw usageFailure(
    `${file} is not UTF-8 text, so we did not change it.`,
    `Change it yourself. The line of gpu ssh-config is: ${line}`,
  );
}
