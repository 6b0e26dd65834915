/** What Vite writes of each part of a build (.vite/manifest.json); by its source, or by `_` and its file. */
export interface ManifestPart {
  readonly file: string;
  readonly isEntry?: boolean;
  readonly imports?: readonly string[];
  readonly dynamicImports?: readonly string[];
  readonly css?: readonly string[];
}
export type Manifest = Readonly<Record<string, ManifestPart>>;

/** The most that is loaded, in bytes of gzipped script: before the first page, and by each page or overlay beyond that. */
export const budget = { first: 150_000, page: 40_000 } as const;

/** What one page or document loads, gzipped. */
export interface Load {
  readonly name: string;
  readonly scriptBytes: number;
  readonly cssBytes: number;
  readonly budgetBytes: number;
}

const DOCUMENT = 'index.html';
const CARD = 'card.html';

/**
 * Adds up what a browser loads: each document with all that it imports; each lazily loaded page with all that it brings
 * beyond its document, parts that come by themselves later, such as a chart, included; and each overlay, which comes when
 * somebody opens it, with all that it imports beyond the page.
 * @param sizeOf the gzipped size of a file of the build, in bytes
 */
export function loadsOf(manifest: Manifest, sizeOf: (file: string) => number): Load[] {
  const first = withImports(manifest, DOCUMENT);
  const load = (name: string, parts: ReadonlySet<string>, budgetBytes: number): Load => ({
    name,
    ...bytesOf(manifest, parts, sizeOf),
    budgetBytes,
  });
  const pages = lazyOf(manifest, first);
  return [
    load('first load', first, budget.first),
    load('the card’s document', withImports(manifest, CARD), budget.first),
    ...pages.flatMap((page) => {
      const own = withImports(manifest, page);
      const later = lazyOf(manifest, without(own, first)).filter((part) => !pages.includes(part));
      for (const part of later) if (!isOverlay(part)) withImports(manifest, part, own);
      const there = new Set([...first, ...own]);
      return [
        load(page, without(own, first), budget.page),
        ...later
          .filter(isOverlay)
          .map((part) => load(`  on ${part}`, without(withImports(manifest, part), there), budget.page)),
      ];
    }),
  ];
}

function bytesOf(
  manifest: Manifest,
  parts: ReadonlySet<string>,
  sizeOf: (file: string) => number,
): Pick<Load, 'scriptBytes' | 'cssBytes'> {
  const all = [...parts].map((part) => partOf(manifest, part));
  const files = new Set(all.flatMap(({ file, css = [] }) => [file, ...css]));
  const sum = (ending: string): number =>
    [...files].filter((file) => file.endsWith(ending)).reduce((bytes, file) => bytes + sizeOf(file), 0);
  return { scriptBytes: sum('.js'), cssBytes: sum('.css') };
}

/** Overlays stand in folders of that name (docs/architecture.md). */
const isOverlay = (part: string): boolean => part.includes('/overlays/');

/** What these parts load later. */
function lazyOf(manifest: Manifest, parts: ReadonlySet<string>): string[] {
  return [...new Set([...parts].flatMap((part) => partOf(manifest, part).dynamicImports ?? []))].toSorted();
}

function without(parts: ReadonlySet<string>, there: ReadonlySet<string>): Set<string> {
  return new Set([...parts].filter((part) => !there.has(part)));
}

/** The loads that are over their budgets, in words. */
export function faultsOf(loads: readonly Load[]): string[] {
  return loads
    .filter(({ scriptBytes, budgetBytes }) => scriptBytes > budgetBytes)
    .map(
      ({ name, scriptBytes, budgetBytes }) =>
        `${name.trim()}: ${scriptBytes} bytes of gzipped script, at most ${budgetBytes} are allowed`,
    );
}

/** The loads as a table. */
export function tableOf(loads: readonly Load[]): string {
  const rows = loads.map(({ name, scriptBytes, cssBytes, budgetBytes }) => [
    name,
    kilobytes(scriptBytes),
    kilobytes(budgetBytes),
    kilobytes(cssBytes),
  ]);
  const all = [['gzipped', 'script', 'at most', 'style'], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all
    .map((row) =>
      row
        .map((cell, column) =>
          column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
        )
        .join('  '),
    )
    .join('\n');
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1_000).toFixed(1)} KB`;
}

/** A part with everything that it imports at once. */
function withImports(manifest: Manifest, name: string, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found;
  found.add(name);
  for (const next of partOf(manifest, name).imports ?? []) withImports(manifest, next, found);
  return found;
}

function partOf(manifest: Manifest, name: string): ManifestPart {
  const part = manifest[name];
  if (part === undefined) throw new Error(`The build's manifest has no ${name}.`);
  return part;
}
