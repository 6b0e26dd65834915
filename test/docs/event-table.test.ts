import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventData } from '../../api/events/data.js';
import { definitionOf, type JsonSchema } from '../../api/http/openapi/json-schema.js';

const fieldsOf = (schema: JsonSchema): string[] =>
  Object.keys((definitionOf(schema)?.schema ?? schema)['properties'] as object);

it('the table of events in docs/api has each type, in order, and its fields', () => {
  const page = readFileSync(join('docs', 'api', 'README.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `(\w+\.\w+)` +\| .*? \| (.*?) *\|$/gm)].map(([, type, fields = '']) => [
    type,
    [...fields.matchAll(/`(\w+)`/g)].map(([, field]) => field),
  ]);
  assert.deepEqual(
    rows,
    Object.entries(eventData).map(([type, schema]) => [type, fieldsOf(schema)]),
  );
});
