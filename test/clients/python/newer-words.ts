import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { readStackSettings } from '../../../lab/stack/settings.js';
import { findPythonPackage } from '../../../tools/verify-api/python-package.js';
import { document } from '../../support/http/described.js';
import { newerAnswers } from '../../support/http/newer.js';

const run = promisify(execFile);

export function describeNewerWords(): void {
  describe('a client that Python’s generator makes', function () {
    this.timeout(600_000);
    let folder: string;

    before(() => {
      folder = mkdtempSync(join(tmpdir(), 'gpu-rental-python-client-'));
    });
    after(() => rmSync(folder, { recursive: true, force: true }));

    it('reads every answer of a newer service that tells words it does not know', async function () {
      const { cliPlaces } = readStackSettings(process.env);
      const python = await findPythonPackage('openapi-python-client', cliPlaces, () => undefined);
      if (python === undefined) return this.skip();
      const [description, answers, client] = ['openapi.json', 'answers.json', 'client'].map((name) =>
        join(folder, name),
      ) as [string, string, string];
      const all = newerAnswers();
      writeFileSync(description, JSON.stringify(document));
      writeFileSync(answers, JSON.stringify(all));
      // The generator formats what it has made by a program of its own environment.
      const env = { ...process.env, PATH: `${dirname(python)}${delimiter}${cliPlaces.searchPath}` };
      const generate = ['-m', 'openapi_python_client', 'generate', '--path', description];
      await run(python, [...generate, '--output-path', client], { env });
      const { stdout } = await run(python, [join(import.meta.dirname, 'read_answers.py'), client, answers]);
      const lines = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown);
      assert.deepEqual(lines, [{ read: all.length }]);
    });
  });
}
