import type { Cli } from '../cli.js';

/**
 * Shows a page: its address is printed, and a browser is opened where there is one. BROWSER names another program, as
 * elsewhere; BROWSER=none opens nothing.
 */
export async function openPage(cli: Cli, url: string, open: boolean): Promise<void> {
  cli.out.note(`\n${url}\n`);
  const [program, ...args] = open && cli.asking.canAsk ? browserOf(cli) : [];
  if (program === undefined) return;
  try {
    await cli.surroundings.run(program, [...args, url], { limitMs: 10_000 });
  } catch {
    // The address is on the screen.
  }
}

function browserOf({ surroundings: { env, platform } }: Cli): readonly string[] {
  const { BROWSER: named } = env;
  if (named === 'none') return [];
  if (named !== undefined && named !== '') return [named];
  if (platform === 'darwin') return ['open'];
  if (platform === 'win32') return ['cmd', '/c', 'start', ''];
  return env['DISPLAY'] === undefined && env['WAYLAND_DISPLAY'] === undefined ? [] : ['xdg-open'];
}
