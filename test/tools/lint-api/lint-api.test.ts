import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describeApi } from '../../../api/http/openapi/document.js';
import { lintApi } from '../../../tools/lint-api/lint-api.js';

const projectDir = join(import.meta.dirname, '..', '..', '..');

interface Changeable {
  paths: Record<string, Record<string, { operationId: string; responses: Record<string, unknown> }>>;
  components: { examples: Record<string, { value: Record<string, unknown> }> };
}

/** What the linter prints of the description after a change. */
function faultsAfter(change: (document: Changeable) => void): string {
  const document = JSON.parse(JSON.stringify(describeApi())) as Changeable;
  change(document);
  const { passed, output } = lintApi(document, projectDir);
  assert.equal(passed, false);
  return output;
}

describe('the linter of the API’s description', () => {
  it('finds nothing in it', () => {
    const { passed, output } = lintApi(describeApi(), projectDir);
    assert.ok(passed, output);
    assert.match(output, /Your API description is valid/);
  });

  it('finds what would mislead a client', () => {
    const output = faultsAfter(({ paths, components }) => {
      paths['/v1/rentals']!['get']!.operationId = 'createRental';
      paths['/v1/rentals/{rental}'] = paths['/v1/rentals/{id}']!;
      delete paths['/v1/auth/providers']!['get']!.responses['200'];
      delete components.examples['insufficient_balance']!.value['details'];
    });
    for (const rule of [
      'operation-operationId-unique',
      'path-parameters-defined',
      'rule/operation-success',
      'no-invalid-media-type-examples',
    ]) {
      assert.ok(output.includes(rule), `${rule}: ${output}`);
    }
  });
});
