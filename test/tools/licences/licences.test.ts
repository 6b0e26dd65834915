import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readBundledPackages } from '../../../tools/licences/bundled-packages.js';
import { licencePolicy, type LicencePolicy } from '../../../tools/licences/policy.js';
import { readProductionPackages } from '../../../tools/licences/production-packages.js';
import { tellLicences } from '../../../tools/licences/tell-licences.js';

const policy: LicencePolicy = { allowed: new Set(['MIT', 'ISC', 'Apache-2.0']), accepted: new Map() };

describe('the licences of what the service runs with', () => {
  let projectDir: string;

  beforeEach(() => {
    projectDir = mkdtempSync(join(tmpdir(), 'licences-'));
  });
  afterEach(() => rmSync(projectDir, { recursive: true, force: true }));

  function lock(packages: Record<string, object>, lockfileVersion = 3): void {
    const entries = { '': { license: 'GPL-3.0-only' }, ...packages };
    writeFileSync(
      join(projectDir, 'package-lock.json'),
      JSON.stringify({ lockfileVersion, packages: entries }),
    );
  }

  function install(path: string, manifest: object): void {
    mkdirSync(join(projectDir, path), { recursive: true });
    writeFileSync(join(projectDir, path, 'package.json'), JSON.stringify(manifest));
  }

  function told(by: LicencePolicy = policy, brief = false): { isFine: boolean; lines: string[] } {
    const lines: string[] = [];
    const isFine = tellLicences(projectDir, by, (line) => lines.push(line), { brief });
    return { isFine, lines };
  }

  it('are permissive in this project, and nothing that was accepted by hand is gone', () => {
    const lines: string[] = [];
    const root = join(import.meta.dirname, '..', '..', '..');
    assert.ok(
      tellLicences(root, licencePolicy, (line) => lines.push(line), { brief: false }),
      lines.join('\n'),
    );
    assert.ok(lines.some((line) => /^koa@\S+ {2}MIT$/.test(line)));
  });

  it('are judged of what the dashboard brings to browsers too', () => {
    writeFileSync(
      join(projectDir, 'licences.txt'),
      '# Licenses\n\n## ui - 1.2.0 (GPL-3.0-only)\n\nThe text\n\n## @a/both - 2.0.0 (MIT)\n\n## none - 3.0.0\n',
    );
    const bundled = readBundledPackages(projectDir);
    assert.deepEqual(bundled, [
      { name: 'ui', version: '1.2.0', licence: 'GPL-3.0-only' },
      { name: '@a/both', version: '2.0.0', licence: 'MIT' },
      { name: 'none', version: '3.0.0', licence: undefined },
    ]);
    lock({ 'node_modules/@a/both': { version: '2.0.0', license: 'MIT' } });
    const lines: string[] = [];
    assert.ok(!tellLicences(projectDir, policy, (line) => lines.push(line), { brief: false, bundled }));
    assert.deepEqual(lines.slice(0, 5), [
      '@a/both@2.0.0  MIT',
      'ui@1.2.0  GPL-3.0-only',
      'none@3.0.0  (none said)',
      'NOT ALLOWED: ui@1.2.0: GPL-3.0-only',
      'NOT ALLOWED: none@3.0.0: says nothing of its licence',
    ]);
    writeFileSync(join(projectDir, 'licences.txt'), '# Licenses\n');
    assert.throws(() => readBundledPackages(projectDir), /names no package/);
  });

  it('are listed of every copy, and not of packages for development nor of workspaces', () => {
    lock({
      'node_modules/a': { version: '1.0.0', license: 'MIT' },
      'node_modules/@scope/b': { version: '2.0.0', license: 'ISC' },
      'node_modules/a/node_modules/@scope/b': { version: '1.5.0', license: 'MIT', optional: true },
      'node_modules/tool': { version: '1.0.0', license: 'GPL-3.0-only', dev: true },
      'node_modules/@gpu-rental/client': { resolved: 'clients/typescript', link: true },
    });
    assert.deepEqual(told(), {
      isFine: true,
      lines: ['@scope/b@1.5.0  MIT', '@scope/b@2.0.0  ISC', 'a@1.0.0  MIT'],
    });
    assert.deepEqual(told(policy, true).lines, [
      '3 packages that the service or its dashboard runs with: 2 MIT, 1 ISC',
    ]);
  });

  for (const licence of [
    'MIT',
    '(MIT OR GPL-3.0-only)',
    'GPL-2.0-only OR MIT AND ISC',
    'Apache-2.0 AND MIT',
  ]) {
    it(`are allowed as ${licence}`, () => {
      lock({ 'node_modules/a': { version: '1.0.0', license: licence } });
      assert.equal(told().isFine, true);
    });
  }

  for (const licence of [
    'GPL-3.0-only',
    'MIT AND GPL-3.0-only',
    '(MIT OR ISC) AND GPL-3.0-only',
    'AGPL-3.0-only OR SSPL-1.0',
    'SEE LICENSE IN LICENSE.md',
    'UNLICENSED',
    'mit',
    '',
  ]) {
    it(`are refused as ${licence === '' ? 'an empty text' : licence}, with what to do`, () => {
      lock({ 'node_modules/a': { version: '1.0.0', license: licence } });
      const { isFine, lines } = told();
      assert.equal(isFine, false);
      assert.ok(lines.some((line) => line.startsWith('NOT ALLOWED: a@1.0.0: ')));
      assert.match(lines.at(-1) ?? '', /^Use another package/);
    });
  }

  it('are read from the installed package where the lock has none', () => {
    lock({ 'node_modules/a': { version: '1.0.0' }, 'node_modules/b': { version: '1.0.0' } });
    install('node_modules/a', { licenses: [{ type: 'MIT', url: 'https://example.com' }] });
    install('node_modules/b', { licenses: [{ type: 'GPL-3.0-only' }] });
    assert.deepEqual(
      readProductionPackages(projectDir).map(({ licence }) => licence),
      ['MIT', 'GPL-3.0-only'],
    );
    assert.equal(told().isFine, false);
  });

  it('are refused where nothing is said, unless that very version was accepted', () => {
    lock({ 'node_modules/a': { version: '1.0.0' } });
    assert.ok(told().lines.includes('NOT ALLOWED: a@1.0.0: says nothing of its licence'));
    const accepting = (name: string): LicencePolicy => ({
      ...policy,
      accepted: new Map([[name, 'was read']]),
    });
    assert.deepEqual(told(accepting('a@1.0.0')), {
      isFine: true,
      lines: ['a@1.0.0  (none said)  accepted: was read'],
    });
    const { isFine, lines } = told(accepting('a@0.9.0'));
    assert.equal(isFine, false);
    assert.ok(lines.includes('NOT THERE ANY MORE: a@0.9.0'));
  });

  it('are not said to be fine when there is nothing to read', () => {
    assert.throws(() => told(), /ENOENT/);
    lock({});
    assert.throws(() => told(), /names no package/);
    lock({ 'node_modules/a': { version: '1.0.0', license: 'MIT' } }, 1);
    assert.throws(() => told(), /version 3/);
  });
});
