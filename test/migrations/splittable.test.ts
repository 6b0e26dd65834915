import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { openDatabase, type Database } from '../../adapters/postgres/database.js';
import { createTestDatabase, type TestDatabase } from '../support/servers/database.js';
import { copied, distributed, onOneNode, parents, spanning } from './placement.js';
import { readSchema, spanningOf, type Schema } from './schema-span.js';

const placed = [...Object.values(distributed).flat(), ...copied, ...onOneNode];

describe('a schema that can be split by wallet', () => {
  let database: TestDatabase;
  let db: Database;
  let schema: Schema;

  before(async () => {
    database = await createTestDatabase();
    db = openDatabase(database.url, 1, 'test');
    schema = await readSchema(db);
  });
  after(async () => {
    await db.destroy();
    await database.drop();
  });

  it('has a place for each table', () => {
    assert.deepEqual(
      [...placed].sort(),
      [...schema.filled.keys()].sort(),
      'placement.ts: one line for each table',
    );
    for (const [column, tables] of Object.entries(distributed)) {
      const missing = tables.filter((table) => !schema.filled.get(table)!.includes(column));
      assert.deepEqual(missing, { wallet_id: ['wallets'], user_id: ['users'] }[column] ?? [], column);
    }
  });

  it('has a reason for each key, reference, exclusion and trigger that spans wallets', () => {
    const declared = spanning.flatMap(({ names }) => names);
    assert.deepEqual(
      [...declared].sort(),
      spanningOf(schema).sort(),
      'placement.ts: what is new here spans wallets. Take the wallet’s column into it, or give its reason.',
    );
  });

  it('is told by docs/scale.md', () => {
    const lines = [
      ...Object.entries(distributed).map(([column, tables]) => {
        const parent = parents[column];
        return `- by \`${column}\`${parent === undefined ? '' : `, of \`${parent}\``}: ${inCode(tables)}`;
      }),
      `- a copy on each node: ${inCode(copied)}`,
      `- on one node: ${inCode(onOneNode)}`,
      ...spanning.map(({ reason, names }) => `| ${reason} | ${names.length} |`),
    ];
    const page = readFileSync('docs/scale.md', 'utf8').replace(/\s+/g, ' ');
    assert.deepEqual(
      lines.filter((line) => !page.includes(line)),
      [],
      'docs/scale.md should say this',
    );
  });
});

const inCode = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ');
