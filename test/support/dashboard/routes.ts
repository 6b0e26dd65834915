import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const projectDir = fileURLToPath(new URL('../../..', import.meta.url));

/** The routes that the dashboard has, read from its table. */
export function declaredRoutes(): string[] {
  const table = readFileSync(join(projectDir, 'clients', 'dashboard', 'src', 'app', 'routes.ts'), 'utf8');
  return [...table.matchAll(/^ {2}path: '([^']+)'/gm)]
    .map(([, path = '']) => path)
    .filter((path) => path !== '/app');
}
