import { readFileSync } from 'node:fs';
import type { Plugin, Rolldown } from 'vite';

/** A route of the table, and the module of its page. */
const ROUTE = /path: '([^']+)',[^}]*?import\('\.\.\/(pages\/[^']+)\.js'\)/g;

/**
 * Has a browser ask for who is signed in, and for the parts of the address's page, while the document's own are still on
 * their way, rather than once those have run: on a slow line that is a round trip each, and most of a second where it
 * takes few requests at a time.
 * @param table the file of the routes
 */
export function earlyPage(table: string): Plugin {
  return {
    name: 'early-page',
    apply: 'build',
    enforce: 'post',
    generateBundle(_options, bundle) {
      const document = bundle['index.html'];
      if (document?.type !== 'asset') return;
      const source = scriptOf(readFileSync(table, 'utf8'), bundle);
      const name = this.getFileName(this.emitFile({ type: 'asset', name: 'early.js', source }));
      document.source = String(document.source).replace(
        '<script src=',
        `<script async fetchpriority="high" src="/app/${name}"></script>\n    $&`,
      );
    },
  };
}

function scriptOf(table: string, bundle: Rolldown.OutputBundle): string {
  const chunks = Object.values(bundle).filter((made) => made.type === 'chunk');
  const imports = new Map(chunks.map((chunk) => [chunk.fileName, chunk.imports]));
  const withImports = (file: string, found = new Set<string>()): Set<string> => {
    if (found.has(file)) return found;
    found.add(file);
    for (const imported of imports.get(file) ?? []) withImports(imported, found);
    return found;
  };
  const document = chunks.find(({ isEntry, name }) => isEntry && name === 'index');
  const there = withImports(document?.fileName ?? '');
  const pages = [...table.matchAll(ROUTE)].map(([, path = '', module = '']) => {
    const page = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith(`/src/${module}.tsx`) === true);
    if (!page) throw new Error(`${path} has no part of its own: ${module}`);
    return [placeOf(path), [...withImports(page.fileName)].filter((file) => !there.has(file))] as const;
  });
  const files = [...new Set(pages.flatMap(([, parts]) => parts))];
  const numbered = pages.map(([place, parts]) => [place, parts.map((part) => files.indexOf(part))]);
  return `{
const files = ${JSON.stringify(files)}, pages = ${JSON.stringify(numbered)};
let place = location.pathname;
try { if (!localStorage.getItem('signed-in')) place = '/login'; } catch {}
const [, parts = []] = pages.find(([page]) => new RegExp(page).test(place)) ?? [];
const ask = (link) => document.head.append(Object.assign(document.createElement('link'), link));
if (place !== '/login') ask({ rel: 'preload', as: 'fetch', crossOrigin: 'use-credentials', fetchPriority: 'high', href: '/v1/auth/me' });
for (const part of parts) ask({ rel: 'modulepreload', crossOrigin: '', href: '/app/' + files[part] });
}
`;
}

/** The addresses of a route: all but the sign-in lie below /app. */
function placeOf(path: string): string {
  const whole = path === '/login' ? path : `/app${path.replace(/\/$/, '')}`;
  return `^${whole.replaceAll(/\$\w+/g, '[^/]+')}/?$`;
}
