import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import pg from 'pg';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../support/servers/database.js';
import { tellDifferences } from '../support/schema/differences.js';
import { dumpSchema } from '../support/schema/dump.js';

/**
 * The schema after all migrations, under version control: a reviewer reads a change of it as SQL, and not as the sum of
 * thirty files. `npm run schema` writes it anew.
 */
const file = new URL('../../migrations/schema.sql', import.meta.url);

describe('migrations/schema.sql', () => {
  const databases: TestDatabase[] = [];

  before(async () => {
    databases.push(await createTestDatabase(), await createEmptyDatabase());
  });
  after(() => Promise.all(databases.map((database) => database.drop())));

  const on = async <T>(database: TestDatabase | undefined, work: (client: pg.Client) => Promise<T>) => {
    const client = new pg.Client({ connectionString: database?.url });
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  };
  const kept = () => (existsSync(file) ? readFileSync(file, 'utf8') : '');
  const isKept = (dump: string) => {
    const differences = tellDifferences(kept(), dump);
    const hint = 'If this is meant: npm run schema, and let the change of migrations/schema.sql be reviewed.';
    assert.ok(differences.length === 0, `not what is kept:\n${differences.join('\n')}\n${hint}`);
  };

  it('is what the migrations make', async () => {
    const dump = await on(databases[0], dumpSchema);
    if (process.env['PIN_SCHEMA'] === '1') writeFileSync(file, dump);
    isKept(dump);
  });

  it('makes the same schema in an empty database', async () => {
    const dump = await on(databases[1], async (client) => {
      await client.query(kept());
      return dumpSchema(client);
    });
    isKept(dump);
  });

  const changes = [
    ['alter table wallets add nickname text', /table wallets:\n {2}\+ +nickname text,/],
    [
      'alter table wallets alter low_since set not null',
      /table wallets:\n {2}- +low_since .*\n {2}\+ +low_since .* NOT NULL/,
    ],
    [
      'create index wallets_seq on wallets (seq)',
      /table wallets:\n {2}\+ CREATE INDEX wallets_seq ON wallets/,
    ],
    ['alter table wallets reset (fillfactor)', /table wallets:\n {2}- .*fillfactor=45.*\n {2}\+ \);/],
    [
      'drop trigger wallets_start_empty on wallets',
      /table wallets:\n(?:.*\n)* {2}- CREATE TRIGGER wallets_start_empty/,
    ],
    [
      'grant delete on wallets to gpu_rental_api',
      /table wallets:\n {2}- GRANT.*\n {2}\+ GRANT .*DELETE.* TO gpu_rental_api/,
    ],
    [`alter type ledger_entry_type add value 'gift'`, /types:\n {2}\+ +'gift'/],
    ['grant execute on function step_over_lost_numbers() to public', /functions:\n {2}- REVOKE EXECUTE/],
    ['create view poor as select id from wallets', /view poor:\n/],
    ['drop view free_machines', /view free_machines:\n {2}- /],
  ] as const;

  for (const [change, told] of changes) {
    it(`shows "${change}"`, async () => {
      const dump = await on(databases[0], async (client) => {
        await client.query('begin');
        await client.query(change);
        return dumpSchema(client);
      });
      assert.match(tellDifferences(kept(), dump).join('\n'), told);
    });
  }

  for (const [change, told] of [
    ['alter table wallets enable row level security', /row security of wallets/],
    ['alter table wallets disable trigger wallets_changed', /trigger wallets_changed/],
    [`comment on table wallets is 'poor'`, /a comment: poor/],
    ['create domain cents as bigint', /the type cents/],
    ['create schema attic', /the schema attic/],
  ] as const) {
    it(`refuses what it can't show: "${change}"`, async () => {
      await on(databases[0], async (client) => {
        await client.query('begin');
        await client.query(change);
        await assert.rejects(dumpSchema(client), told);
      });
    });
  }
});
