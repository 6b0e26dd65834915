import { statSync } from 'node:fs';
import { join } from 'node:path';
import { packClients } from './build.js';

/** `npm run pack:clients`: the packages of the typed client and of the command, below dist/packages. */
const target = join(import.meta.dirname, '..', '..', 'dist', 'packages');
for (const tarball of Object.values(await packClients(target))) {
  console.log(`${tarball}  ${(statSync(tarball).size / 1_000).toFixed(0)} kB`);
}
