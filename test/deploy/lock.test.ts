import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

interface Locked {
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
  readonly packages: Readonly<Record<string, Locked>>;
};

/** Where Node looks for a package from a folder of the lock, the nearest place first. */
function placesOf(name: string, from: string): string[] {
  const parts = from === '' ? [] : from.split('/node_modules/');
  const folders = parts.map((_, count) => parts.slice(0, parts.length - count).join('/node_modules/'));
  return [...folders.map((folder) => `${folder}/node_modules/${name}`), `node_modules/${name}`];
}

describe('package-lock.json', () => {
  it('knows each optional package, so that every system gets the programs that are made for it', () => {
    const missing = Object.entries(packages).flatMap(([from, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies)
        .filter((name) => !placesOf(name, from).some((place) => place in packages))
        .map((name) => `${name}, of ${from}`),
    );
    assert.deepEqual(missing, []);
  });
});
