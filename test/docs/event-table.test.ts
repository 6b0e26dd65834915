import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { eventTypes } from '../../domain/events/events.js';

/** Types that others than a change of the account tell, and that have their own documents. */
const elsewhere = /^(api_key|webhook|feed)\./;

describe('the table of events in docs/api', () => {
  const page = readFileSync(join('docs', 'api', 'README.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `((?:\w+)\.(?:\w+))` +\| .*? \| (.*?) *\|$/gm)].map(
    ([, type = '', fields = '']) =>
      [type, [...fields.matchAll(/`(\w+)`/g)].map(([, field]) => field)] as const,
  );

  it('has each type of a user’s own changes, in the order of domain/events', () => {
    assert.deepEqual(
      rows.map(([type]) => type),
      eventTypes.filter((type) => !elsewhere.test(type)),
    );
  });

  it('names the fields that the types of domain/events have, no more and no less', () => {
    const typed = fieldsOfPayloads();
    assert.deepEqual(
      rows,
      rows.map(([type]) => [type, typed.get(type)]),
    );
  });
});

/** Reads the fields of each payload as the compiler sees them. */
function fieldsOfPayloads(): Map<string, string[]> {
  const file = join('domain', 'events', 'events.ts');
  const program = ts.createProgram([file], { strict: true, noLib: true });
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  const payloads = source?.statements.find(
    (node): node is ts.InterfaceDeclaration =>
      ts.isInterfaceDeclaration(node) && node.name.text === 'EventData',
  );
  assert.ok(payloads, 'the interface of all payloads');
  const ofPayload = (symbol: ts.Symbol): string[] =>
    checker.getPropertiesOfType(checker.getTypeOfSymbol(symbol)).map(({ name }) => name);
  return new Map(
    checker
      .getTypeAtLocation(payloads)
      .getProperties()
      .map((symbol) => [symbol.name, ofPayload(symbol)]),
  );
}
