import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { precompressed } from '../../http/precompressed.js';
import type { Step } from '../../http/middleware/session.js';

/** The built dashboard as it was when its folder was read: nothing else is ever answered. */
export interface DashboardFiles {
  /** The document of all its pages but one. */
  readonly index: Step;
  /** The document in which a card is entered. */
  readonly card: Step;
  /** All other files by their address. */
  readonly files: ReadonlyMap<string, Step>;
}

/** Below it are the pages, and the files that they load. */
export const dashboardPath = '/app';
export const assetsPath = `${dashboardPath}/assets`;

/** The name of an asset changes with its bytes. */
const ASSET_CACHE = 'public, max-age=31536000, immutable';
/** A document names the assets of its release, so that a browser asks each time whether it is still the same. */
const DOCUMENT_CACHE = 'no-cache';

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
};

/** What the build leaves beside a file: the same in a content coding. */
const codedNames = { br: '.br', gzip: '.gz' } as const;

const INDEX = 'index.html';
const CARD = 'card.html';

/**
 * The folder of the built dashboard: beside the compiled service, or below dist/ of its sources.
 * @returns undefined when it was not built
 */
export function findDashboardFolder(): string | undefined {
  const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
  return [join(root, 'dashboard'), join(root, 'dist', 'dashboard')].find((folder) =>
    existsSync(join(folder, INDEX)),
  );
}

/**
 * Reads the files, a megabyte, all at once: a new build that takes their place later would leave only some of them.
 * @returns undefined for a folder without the two documents
 */
export function readDashboard(folder: string | undefined): DashboardFiles | undefined {
  if (folder === undefined || !existsSync(folder)) return undefined;
  const names = namesIn(folder);
  if (!names.includes(INDEX) || !names.includes(CARD)) return undefined;
  const own = names.filter((name) => name !== INDEX && name !== CARD);
  const assets = namesIn(join(folder, 'assets'));
  return {
    index: show(folder, INDEX, names, DOCUMENT_CACHE),
    card: show(folder, CARD, names, DOCUMENT_CACHE),
    files: new Map([
      ...answered(own).map(
        (name) => [`${dashboardPath}/${name}`, show(folder, name, names, DOCUMENT_CACHE)] as const,
      ),
      ...answered(assets).map(
        (name) => [`${assetsPath}/${name}`, show(join(folder, 'assets'), name, assets, ASSET_CACHE)] as const,
      ),
    ]),
  };
}

/** The plain files of a folder. A name with a dot in front is the build's own. */
function namesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map(({ name }) => name);
}

/** The files that have an address of their own: of a known type, which those in a content coding are not. */
function answered(names: readonly string[]): string[] {
  return names.filter((name) => types[extname(name)] !== undefined);
}

function show(folder: string, name: string, names: readonly string[], cacheControl: string): Step {
  const bytes = readFileSync(join(folder, name));
  const coded = Object.entries(codedNames)
    .filter(([, ending]) => names.includes(name + ending))
    .map(([coding, ending]) => [coding, readFileSync(join(folder, name + ending))] as const);
  return precompressed({
    type: types[extname(name)] ?? 'application/octet-stream',
    cacheControl,
    make: () => bytes,
    coded: Object.fromEntries(coded),
  });
}
