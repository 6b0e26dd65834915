import { writeFileSync } from 'node:fs';
import pg from 'pg';
import { createTestDatabase } from '../../test/support/servers/database.js';
import { stopTestServers } from '../../test/support/servers/started-servers.js';
import { makeRowsFile, rowsFile } from './file.js';

/** `npm run rows`: makes the types of all rows from the schema that the migrations leave, on a server of its own. */
const database = await createTestDatabase();
const client = new pg.Client({ connectionString: database.url });
await client.connect();
try {
  const text = await makeRowsFile(async <Row>(sql: string) => (await client.query(sql)).rows as Row[]);
  writeFileSync(rowsFile, text);
} finally {
  await client.end();
  await database.drop();
  await stopTestServers();
}
