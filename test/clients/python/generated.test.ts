import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { closed } from '../../../api/http/openapi/json-schema.js';
import { generatePythonClient } from '../../../tools/python-client/generate.js';
import { document } from '../../support/http/described.js';

const folder = join(import.meta.dirname, '..', '..', '..', 'clients', 'python', 'src', 'gpu_rental');

describe('what the Python client does not write by hand', () => {
  it('is what the description gives: npm run generate:python', () => {
    for (const [path, text] of generatePythonClient(document, folder)) {
      assert.equal(readFileSync(join(folder, path), 'utf8'), text, path);
    }
  });

  it('has a class for each code, and a call for each operation, that the description gains', () => {
    const grown = closed(document) as unknown as {
      paths: Record<string, unknown>;
      components: { schemas: Record<string, { oneOf: unknown[] }> };
    };
    const { schemas } = grown.components;
    const properties = {
      error: { const: 'too_new' },
      details: { $ref: '#/components/schemas/TooNewDetails' },
    };
    Object.assign(schemas, {
      TooNewDetails: { type: 'object', properties: { from: { type: 'integer' } } },
    });
    Object.assign(schemas, { TooNewError: { type: 'object', properties, required: ['error', 'details'] } });
    schemas['ApiError']!.oneOf.push({ $ref: '#/components/schemas/TooNewError' });
    const content = { 'application/json': { schema: { $ref: '#/components/schemas/TooNewError' } } };
    grown.paths['/v1/news/{id}'] = {
      post: { operationId: 'readNews', summary: 'Reads', responses: { '200': { content } } },
    };
    const made = generatePythonClient(grown, folder);
    assert.match(
      made.get('refusals.py')!,
      /class TooNewError\(ApiError\):[^]*details: types\.TooNewDetails\n/,
    );
    assert.match(made.get('refusals.py')!, /"too_new": TooNewError,/);
    assert.match(made.get('types.py')!, /TooNewDetails = TypedDict\(\n[^)]*"from": NotRequired\[int\],/);
    assert.match(made.get('_async/operations.py')!, /async def read_news\([^]*?\) -> t\.TooNewError:/);
    assert.match(made.get('_sync/operations.py')!, /\n {4}def read_news\(/);
    assert.doesNotMatch(made.get('_sync/operations.py')!, /async def|await /);
  });
});
