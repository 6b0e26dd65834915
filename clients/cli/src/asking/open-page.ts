import type { Cli } from '../cli.js';
import { Failure } from '../failure.js';
import { cut, plain } from '../output/text.js';

/**
 * Shows a page: its address is printed, and a browser is opened where there is one. BROWSER names another program, as
 * elsewhere; BROWSER=none opens nothing.
 */
export async function openPage(cli: Cli, url: string, open: boolean): Promise<void> {
  const page = pageOf(url);
  cli.out.note(`\n${page}\n`);
  const [program, ...args] = open && cli.asking.canAsk ? browserOf(cli) : [];
  if (program === undefined) return;
  try {
    await cli.surroundings.run(program, [...args, page], { limitMs: 10_000 });
  } catch {
    // The address is on the screen.
  }
}

/** The address of a page as a URL writes it, which no program takes for an option, a file or anything else. */
function pageOf(url: string): string {
  const page = URL.canParse(url) ? new URL(url) : undefined;
  if (page?.protocol === 'https:' || page?.protocol === 'http:') return page.href;
  throw new Failure(
    'server',
    `The service named a page that is neither http nor https: "${cut(plain(url), 60)}".`,
    'Check the address of the service: --url',
  );
}

/** No shell reads the address: an & in it would begin another command. */
function browserOf({ surroundings: { env, platform } }: Cli): readonly string[] {
  const { BROWSER: named } = env;
  if (named === 'none') return [];
  if (named !== undefined && named !== '') return [named];
  if (platform === 'darwin') return ['open'];
  if (platform === 'win32') return ['rundll32.exe', 'url.dll,FileProtocolHandler'];
  return env['DISPLAY'] === undefined && env['WAYLAND_DISPLAY'] === undefined ? [] : ['xdg-open'];
}
