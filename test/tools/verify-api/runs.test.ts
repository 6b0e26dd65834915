import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { configOf, type Run } from '../../../tools/verify-api/runs.js';
import { findPythonPackage } from '../../../tools/verify-api/python-package.js';
import { countWalked, forWalks } from '../../../tools/verify-api/walks.js';
import { describedOperations } from '../../support/http/described.js';

const run: Run = { name: 'a run', phases: ['fuzzing'], examples: 3 };

describe('the verification of the API', () => {
  let folder: string;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'verify-api-test-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('sends the session only where somebody is signed in', () => {
    assert.ok(!configOf(run).includes('api_key'));
    assert.match(configOf({ ...run, sid: 'abc' }), /\[auth\.openapi\.sid\]\napi_key = "abc"\n/);
  });

  it('excuses only operations that are described', () => {
    const [, list = ''] = /include-operation-id = (\[.*\])/.exec(configOf(run)) ?? [];
    const described = [...describedOperations().values()].map(({ operationId }) => operationId);
    const unknown = (JSON.parse(list) as string[]).filter((name) => !described.includes(name));
    assert.deepEqual(unknown, []);
    assert.ok(described.includes('logOut'), 'the operation that has a run of its own');
  });

  it('sends on walks what links say, and nothing made up beside it', () => {
    const link = { operationId: 'createRental', requestBody: { familyId: '$response.body#/family' } };
    const plain = { operationId: 'showRental', parameters: { id: '$response.body#/id' } };
    const document = (links: object) => ({ paths: { '/a': { get: { responses: { 200: { links } } } } } });
    const given = document({ link, plain });
    assert.deepEqual(
      forWalks(given),
      document({ link: { ...link, 'x-schemathesis': { merge_body: false } }, plain }),
    );
    assert.deepEqual(given, document({ link, plain }));
  });

  it('asks on walks for whole lists, and makes up no keys', () => {
    const id = { name: 'id', in: 'path' };
    const [filter, key] = [
      { name: 'familyId', in: 'query' },
      { name: 'Idempotency-Key', in: 'header' },
    ];
    const document = (parameters: object[]) => ({ paths: { '/a': { get: { parameters, responses: {} } } } });
    assert.deepEqual(forWalks(document([id, filter, key])), document([id]));
  });

  it('counts the rentals that walks opened, and those that a walk stopped', async () => {
    const stopReasons = ['user', null, 'balance_exhausted', 'user'];
    const get = () => Promise.resolve({ rentals: stopReasons.map((stopReason) => ({ stopReason })) });
    assert.deepEqual(await countWalked({ get }), { opened: 4, stopped: 2 });
  });

  it('is left out where there is no Python, or one without venv', async () => {
    const places = { searchPath: folder, cacheDir: join(folder, 'cache') };
    assert.equal(await findPythonPackage('schemathesis', places, () => undefined), undefined);
    const python = join(folder, 'python3');
    writeFileSync(python, '#!/bin/sh\nexit 1\n');
    chmodSync(python, 0o755);
    assert.equal(await findPythonPackage('schemathesis', places, () => undefined), undefined);
  });
});
