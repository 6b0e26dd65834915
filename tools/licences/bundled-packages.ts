import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProductionPackage } from './production-packages.js';

/** What the build of the dashboard writes of each package that is in it: name, version, licence, and its whole text. */
const heading = /^## (\S+) - (\S+)(?: \((.+)\))?$/gm;

/**
 * Reads the packages whose code is in the built dashboard. For npm they are for development alone, but browsers get
 * them.
 * @param folder the folder of the build
 * @throws Error where the build names none
 */
export function readBundledPackages(folder: string): ProductionPackage[] {
  const told = readFileSync(join(folder, 'licences.txt'), 'utf8');
  const packages = [...told.matchAll(heading)].map(([, name = '', version = '', licence]) => ({
    name,
    version,
    licence,
  }));
  if (packages.length === 0) throw new Error(`${folder} names no package that the dashboard is made of.`);
  return packages;
}
