import type { PostgresServer } from '../../lab/servers/postgres.js';
import { answersOk, type ProgramPlan } from '../../lab/servers/program.js';
import { planOf, type Child } from '../../lab/stack/children.js';
import { readSecrets } from '../../lab/stack/secrets.js';
import type { StackSettings } from '../../lab/stack/settings.js';
import { urlsOf } from '../../lab/stack/urls.js';
import { loginOf } from '../../migrations/logins.js';
import type { databaseRoles } from '../../migrations/roles.js';

/** The database's address, of one host or of both. */
export type Reached = Pick<PostgresServer, 'url'>;

/** The password of a process's login. */
export const password = (role: string): string => `prod-like-${role}`;

export function loginUrl(postgres: Reached, role: keyof typeof databaseRoles): string {
  return postgres.url.replace(/\/\/[^@]*@/, `//${loginOf(role)}:${password(role)}@`);
}

export function apiPlan(
  settings: StackSettings,
  postgres: Reached,
  index: number,
  port: number,
  shown: NodeJS.ProcessEnv,
): ProgramPlan {
  const child: Child = {
    name: `API ${index + 1}`,
    file: 'dist/api/index.js',
    isReady: () => answersOk(`http://127.0.0.1:${port}/readyz`),
    stopLimitMs: 30_000,
  };
  return builtPlan(child, settings, {
    ...shown,
    API_PORT: String(port),
    DATABASE_URL: loginUrl(postgres, 'api'),
  });
}

export function workerPlan(
  settings: StackSettings,
  postgres: Reached,
  name: string,
  shown: NodeJS.ProcessEnv,
): ProgramPlan {
  // Its log continues over a restart: lines of earlier processes do not count.
  const child: Child = {
    name,
    file: 'dist/worker/index.js',
    isReady: (logged) => logged().includes('"msg":"worker ready"'),
    stopLimitMs: 30_000,
  };
  return builtPlan(child, settings, { ...shown, DATABASE_URL: loginUrl(postgres, 'worker') });
}

export function listenerPlan(settings: StackSettings, postgres: Reached): ProgramPlan {
  const child: Child = {
    name: 'listener',
    file: 'dist/listener/index.js',
    isReady: () => answersOk(`${urlsOf(settings).listener}/readyz`),
    stopLimitMs: 30_000,
  };
  return builtPlan(child, settings, { DATABASE_URL: loginUrl(postgres, 'machine') });
}

/**
 * The plan of a process as in the image: compiled, and without a role to change to, because its login has only its own
 * rights.
 */
function builtPlan(child: Child, settings: StackSettings, env: NodeJS.ProcessEnv): ProgramPlan {
  const plan = planOf(child, settings, readSecrets(settings.dataDir));
  return {
    ...plan,
    args: [child.file],
    // The names that are the local stack's own: in production each process is asked by its address, too.
    env: { ...plan.env, ALLOWED_HOSTS: '', NODE_ENV: 'production', ...env },
  };
}
