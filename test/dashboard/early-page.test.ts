import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { buildDashboard } from '../support/dashboard/built.js';
import { declaredRoutes } from '../support/dashboard/routes.js';

const WHO = '/v1/auth/me';

interface Part {
  readonly file: string;
  readonly src?: string;
}

describe('the parts that a document asks for early', function () {
  this.timeout(120_000);
  let folder: string;
  let script: string;
  before(async () => {
    folder = await buildDashboard();
    const [, name = ''] = /src="\/app\/(assets\/early-[^"]+)"/.exec(read('index.html')) ?? [];
    script = read(name);
  });

  const read = (file: string): string => readFileSync(join(folder, file), 'utf8');

  /** What the script asks for at an address. */
  function askedAt(pathname: string, storage: Readonly<Record<string, string>>): string[] {
    const asked: string[] = [];
    runInNewContext(script, {
      location: { pathname },
      localStorage: { getItem: (key: string) => storage[key] ?? null },
      document: {
        createElement: () => ({}),
        head: { append: ({ href }: { readonly href: string }) => asked.push(href) },
      },
    });
    return asked;
  }

  const pageOf = (files: readonly string[]): string | undefined => {
    const parts = Object.values(JSON.parse(read('.vite/manifest.json')) as Record<string, Part>);
    return parts.find(({ file }) => files.find((asked) => asked !== WHO) === `/app/${file}`)?.src;
  };

  it('are those of its page, for each route', () => {
    const pages = declaredRoutes().map((route) => {
      const place = route === '/login' ? route : `/app${route.replaceAll(/\$\w+/g, 'x_1')}`;
      return pageOf(askedAt(place, { 'signed-in': 'yes' }));
    });
    assert.ok(
      pages.every((page) => page?.startsWith('src/pages/')),
      pages.join(' '),
    );
    assert.equal(new Set(pages).size, declaredRoutes().length);
  });

  it('are the sign-in’s for whoever was not signed in, and none for an address of no page', () => {
    assert.equal(pageOf(askedAt('/app', {})), 'src/pages/login/login-page.tsx');
    assert.deepEqual(askedAt('/app/nowhere', { 'signed-in': 'yes' }), [WHO]);
  });

  it('begin with who is signed in, but for the sign-in', () => {
    assert.equal(askedAt('/app', { 'signed-in': 'yes' })[0], WHO);
    assert.ok(!askedAt('/login', { 'signed-in': 'yes' }).includes(WHO));
  });
});
