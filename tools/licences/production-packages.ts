import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One installed copy of a package that the service runs with, and its own statement of its licence. */
export interface ProductionPackage {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression as the package's author wrote it; undefined without one. */
  readonly licence: string | undefined;
}

interface LockEntry {
  readonly version?: unknown;
  readonly dev?: unknown;
  readonly link?: unknown;
  readonly license?: unknown;
}

const MODULES = 'node_modules/';

/**
 * Reads every package of package-lock.json, except those for development alone. npm copies the field `license` into the
 * lock. It does not copy the older field `licenses`, which is read from the installed package.
 * @throws Error when there is no lock of version 3, or nothing in it
 */
export function readProductionPackages(projectDir: string): ProductionPackage[] {
  const lock = readJson(join(projectDir, 'package-lock.json'));
  const entries = isRecord(lock) && lock['lockfileVersion'] === 3 ? lock['packages'] : undefined;
  if (!isRecord(entries)) throw new Error('No package-lock.json of version 3 here. Run npm install.');
  const packages = Object.entries(entries)
    .filter(([path, entry]) => path.includes(MODULES) && isRecord(entry) && !isLeftOut(entry))
    .map(([path, entry]) => packageOf(projectDir, path, entry as LockEntry));
  if (packages.length === 0)
    throw new Error('package-lock.json names no package that the service runs with.');
  return packages.sort((a, b) => a.name.localeCompare(b.name) || a.version.localeCompare(b.version));
}

/** Packages for development are not passed on; a link leads to a workspace, whose licence is the project's. */
function isLeftOut({ dev, link }: LockEntry): boolean {
  return dev === true || link === true;
}

function packageOf(projectDir: string, path: string, entry: LockEntry): ProductionPackage {
  return {
    name: path.slice(path.lastIndexOf(MODULES) + MODULES.length),
    version: String(entry.version),
    licence: textOf(entry.license) ?? installedLicence(join(projectDir, path, 'package.json')),
  };
}

/** Two or more in the older field were a choice. */
function installedLicence(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  const manifest = readJson(file);
  if (!isRecord(manifest)) return undefined;
  const older = Array.isArray(manifest['licenses']) ? (manifest['licenses'] as unknown[]) : [];
  const said = [manifest['license'], ...older].map(textOf).filter((text) => text !== undefined);
  return said.length === 0 ? undefined : said.join(' OR ');
}

/** A licence is a text, or in old packages an object whose `type` is the text. */
function textOf(licence: unknown): string | undefined {
  const text = isRecord(licence) ? licence['type'] : licence;
  return typeof text === 'string' && text.trim() !== '' ? text.trim() : undefined;
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
