import { execFileSync } from 'node:child_process';
import { copyFileSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Tells whether the history has a commit: a shallow clone has few. */
export function hasCommit(commit: string): boolean {
  try {
    execFileSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: root, stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/**
 * Lays what a commit holds into an empty folder, which runs on the packages of this checkout.
 * @param paths of the project; default: all
 * @throws Error where git doesn't know the commit
 */
export function takeOut(commit: string, folder: string, paths: readonly string[] = []): void {
  const archive = execFileSync('git', ['archive', commit, ...paths], { cwd: root, maxBuffer: 2 ** 30 });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
}

/** Compiles what was taken out whole into its `dist`, without its dashboard. @throws Error where it can't be compiled */
export function build(folder: string): void {
  const node = (...args: string[]): void => {
    execFileSync(process.execPath, args, { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] });
  };
  // Its types were checked when it was new.
  node(join('node_modules', 'typescript-7', 'bin', 'tsc'), '-p', 'tsconfig.build.json', '--noCheck');
  for (const file of readdirSync(join(folder, 'migrations')).filter((name) => name.endsWith('.sql'))) {
    copyFileSync(join(folder, 'migrations', file), join(folder, 'dist', 'migrations', file));
  }
  node(join('dist', 'worker', 'keep-bundle.js'));
}
