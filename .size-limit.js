import { readFileSync } from 'node:fs';

/**
 * What the dashboard makes a browser load, gzipped, by the manifest of Vite's build: each document with all that it
 * imports and its styles; each page with what it brings beyond the first document, parts that come later by themselves
 * included; and each overlay, which comes when somebody opens it, beyond its page.
 */
const folder = 'dist/dashboard';
const manifest = JSON.parse(readFileSync(`${folder}/.vite/manifest.json`, 'utf8'));

/** A part with everything that it imports at once. */
function withImports(name, found = new Set()) {
  if (!found.has(name)) {
    found.add(name);
    for (const imported of manifest[name].imports ?? []) withImports(imported, found);
  }
  return found;
}

const filesOf = (part) => [manifest[part].file, ...(manifest[part].css ?? [])];
const laterOf = (parts) => [...new Set([...parts].flatMap((part) => manifest[part].dynamicImports ?? []))];
const without = (parts, there) => [...parts].filter((part) => !there.has(part));
const isOverlay = (part) => part.includes('/overlays/');

const load = (name, limit, parts) => ({
  ...{ name, limit, gzip: true },
  path: [...new Set([...parts].flatMap(filesOf))].map((file) => `${folder}/${file}`),
});

const first = withImports('index.html');
const pages = laterOf(first);

function loadsOf(page) {
  const own = withImports(page);
  const overlays = new Set();
  // Both sets are walked while they grow: what comes later may bring more.
  for (const part of own) {
    for (const later of first.has(part) ? [] : laterOf([part])) {
      if (isOverlay(later)) overlays.add(later);
      else if (!pages.includes(later)) withImports(later, own);
    }
  }
  for (const overlay of overlays) {
    for (const later of laterOf(withImports(overlay)).filter(isOverlay)) overlays.add(later);
  }
  const there = new Set([...first, ...own]);
  return [
    load(page, '40 kB', without(own, first)),
    ...[...overlays].map((part) => load(`${page}: ${part}`, '40 kB', without(withImports(part), there))),
  ];
}

export default [
  load('first load', '150.5 kB', first),
  load('the card’s document', '150 kB', withImports('card.html')),
  ...pages.flatMap(loadsOf),
];
