import type { Software } from '../../domain/rentals/software.js';

/** An image of a renter's own, with something in each field. */
export function ownSoftware(change: Partial<Software> = {}): Software {
  return {
    image: 'registry.example/team/server:1',
    entrypoint: 'keep',
    args: ['--greeting', 'it’s “me”'],
    env: { GREETING: 'hello $HOME' },
    startScript: null,
    registryAuth: { username: 'renter', password: 'pull-me' },
    ports: [],
    diskGb: null,
    ...change,
  };
}

/** The words of a server, for real, that answers each request with a text. */
export function servingWords(port: number, text: string): string[] {
  const program = `require('node:http').createServer((q, a) => a.end(${JSON.stringify(text)})).listen(${port})`;
  return [process.execPath, '-e', program];
}
