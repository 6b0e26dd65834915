import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { chromium, type Browser } from 'playwright-core';

/** The shell without a window comes first: its pages take about half of the processor time. */
const names = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
];
/** Where systems put it whose shell does not find it by its name. */
const places = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome-stable',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

const howToGetIt =
  'Install Chromium ("apt-get install chromium-headless-shell" on Debian, "snap install chromium" on Ubuntu), or let the variable CHROMIUM name the file of one.';

/** The variables that say where a browser is. */
type Env = Readonly<Record<string, string | undefined>>;

/**
 * Finds a Chromium of the system: the one that CHROMIUM names, or one of the usual names and places.
 * @throws Error that says how to get one
 */
export function findChromium(env: Env = process.env, usual: readonly string[] = places): string {
  const named = env['CHROMIUM'];
  if (named !== undefined && named !== '') {
    const file = isAbsolute(named) ? named : onPath(env, [named]).find(isProgram);
    if (file !== undefined && isProgram(file)) return file;
    throw new Error(`CHROMIUM names ${named}, which is no program. ${howToGetIt}`);
  }
  const found = [...onPath(env, names), ...usual].find(isProgram);
  if (found !== undefined) return found;
  throw new Error(`There is no Chromium on this machine. ${howToGetIt}`);
}

function onPath({ PATH = '' }: Env, programs: readonly string[]): string[] {
  const folders = PATH.split(delimiter).filter((folder) => folder !== '');
  return programs.flatMap((name) => folders.map((folder) => join(folder, name)));
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Starts a Chromium without a window. As root it has no sandbox, which a browser that sees nothing but this machine can
 * do without.
 * @param args more of its own arguments
 */
export function startChromium(args: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    executablePath: findChromium(),
    args: [...args, ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])],
  });
}
