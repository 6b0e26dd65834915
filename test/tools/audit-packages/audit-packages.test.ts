import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { auditExit, auditPackages } from '../../../tools/audit-packages/audit-packages.js';
import { readAuditReport } from '../../../tools/audit-packages/audit-report.js';

/** npm itself queries a registry that stands in for the real one. */
describe('the audit of packages', () => {
  let projectDir: string;
  let registry: Server | undefined;

  beforeEach(() => {
    projectDir = mkdtempSync(join(tmpdir(), 'audit-'));
    const manifest = { name: 'audited', version: '1.0.0', dependencies: { holey: '1.0.0' } };
    const packages = {
      '': manifest,
      'node_modules/holey': { version: '1.0.0' },
      'node_modules/tool': { version: '1.0.0', dev: true },
    };
    writeFileSync(join(projectDir, 'package.json'), JSON.stringify(manifest));
    writeFileSync(join(projectDir, 'package-lock.json'), JSON.stringify({ lockfileVersion: 3, packages }));
  });
  afterEach(async () => {
    registry?.closeAllConnections();
    if (registry?.listening === true) await new Promise((resolve) => registry?.close(resolve));
    registry = undefined;
    rmSync(projectDir, { recursive: true, force: true });
  });

  async function listen(answer: RequestListener): Promise<string> {
    registry = createServer(answer).listen(0, '127.0.0.1');
    await once(registry, 'listening');
    return `http://127.0.0.1:${(registry.address() as AddressInfo).port}/`;
  }

  async function audited(url: string): Promise<{ code: number; said: string }> {
    const lines: string[] = [];
    const cache = join(projectDir, 'cache');
    const npmArgs = ['--registry', url, '--fetch-retries=0', '--cache', cache];
    const code = await auditPackages({ projectDir, log: (line) => lines.push(line), npmArgs });
    return { code, said: lines.join('\n') };
  }

  it('tells what is known against a package, and says that nothing is where nothing is', async () => {
    const advisory = {
      ...{ id: 1, url: 'https://example.com/advisory/1', title: 'Lets strangers in' },
      ...{ severity: 'high', vulnerable_versions: '<1.0.1' },
    };
    const manifest = { name: 'holey', version: '1.0.0' };
    const versions = { '1.0.0': manifest, '1.0.1': { ...manifest, version: '1.0.1' } };
    const known: Record<string, unknown> = { holey: [advisory] };
    const url = await listen((request, response) => {
      request.resume();
      response.setHeader('Content-Type', 'application/json');
      const asksForAdvisories = request.url?.includes('/advisories/bulk') === true;
      response.end(JSON.stringify(asksForAdvisories ? known : { ...manifest, versions }));
    });
    const found = await audited(url);
    assert.equal(found.code, auditExit.found, found.said);
    assert.match(found.said, /^high: holey \S+\n {2}Lets strangers in https:\/\/example\.com\/advisory\/1/);

    delete known['holey'];
    const clean = await audited(url);
    assert.equal(clean.code, auditExit.clean, clean.said);
    assert.match(clean.said, /^nothing is known/);
  });

  it('says that nobody was asked when the registry does not answer audits', async () => {
    const url = await listen((request, response) => {
      request.resume();
      response.writeHead(405).end();
    });
    const { code, said } = await audited(url);
    assert.equal(code, auditExit.unanswered, said);
    assert.match(said, /NOT audited: 405/);
    assert.match(said, /registry that answers audits/);
  });

  for (const [what, output] of [
    ['nothing', ''],
    ['no JSON', 'npm ERR!'],
    ['an empty object', '{}'],
    ['an older report', '{"advisories":{},"metadata":{}}'],
    ['a report without its findings', '{"auditReportVersion":2}'],
  ] as const) {
    it(`does not take ${what} for an answer`, () => {
      assert.equal(readAuditReport(output).kind, 'unanswered');
    });
  }

  it('names the package through which a vulnerability comes', () => {
    const output = JSON.stringify({
      auditReportVersion: 2,
      vulnerabilities: { outer: { severity: 'low', range: '1.x', via: ['inner'] } },
    });
    assert.deepEqual(readAuditReport(output), {
      kind: 'answered',
      advisories: [{ name: 'outer', severity: 'low', range: '1.x', reasons: ['through inner'] }],
    });
  });
});
