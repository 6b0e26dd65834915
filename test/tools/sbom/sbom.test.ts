import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

interface Sbom {
  readonly bomFormat: string;
  readonly metadata: { readonly component: { readonly purl: string; readonly name: string } };
  readonly components: readonly {
    readonly purl: string;
    readonly version: string;
    readonly hashes?: readonly unknown[];
    readonly licenses?: readonly unknown[];
  }[];
}

const read = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));
const { version, dependencies, devDependencies } = read('package.json') as {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
};
const { packages } = read('package-lock.json') as {
  readonly packages: Readonly<Record<string, { readonly version: string; readonly dev?: boolean }>>;
};

describe('npm run sbom', () => {
  let sbom: Sbom;
  const purlOf = (name: string) =>
    `pkg:npm/${name.replace('@', '%40')}@${packages[`node_modules/${name}`]?.version ?? ''}`;

  before(() => {
    const { stdout, stderr, status } = spawnSync('npm', ['run', '--silent', 'sbom'], {
      encoding: 'utf8',
      timeout: 60_000,
    });
    assert.equal(status, 0, stderr);
    sbom = JSON.parse(stdout) as Sbom;
  });

  it('lists each package that the service runs with, by the version of the lock', () => {
    const listed = sbom.components.map(({ purl }) => purl);
    assert.deepEqual(
      Object.keys(dependencies)
        .map(purlOf)
        .filter((purl) => !listed.includes(purl)),
      [],
    );
    // What they bring is listed as well.
    for (const name of ['@hapi/hoek', 'koa-compose', 'protobufjs'])
      assert.ok(listed.includes(purlOf(name)), name);
  });

  it('lists nothing that only builds, tests, or is the dashboard', () => {
    const listed = sbom.components.map(({ purl }) => purl);
    const left = Object.keys(devDependencies).filter(
      (name) => packages[`node_modules/${name}`]?.dev === true,
    );
    assert.ok(left.length > 40, String(left.length));
    for (const name of [...left, 'react', '@tanstack/react-router'])
      assert.ok(!listed.includes(purlOf(name)), name);
  });

  it('is CycloneDX, names this release, and says of each package by which bytes it is known', () => {
    assert.equal(sbom.bomFormat, 'CycloneDX');
    assert.equal(sbom.metadata.component.purl, `pkg:npm/gpu-rental@${version}`);
    assert.equal(sbom.metadata.component.name, 'gpu-rental');
    const unknown = sbom.components.filter(({ hashes = [] }) => hashes.length === 0);
    assert.deepEqual(
      unknown.map(({ purl }) => purl),
      [],
    );
  });
});
