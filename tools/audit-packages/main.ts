import { join } from 'node:path';
import { auditPackages } from './audit-packages.js';

/** `npm run audit:packages`: exit code 1 when something is known against a package, 75 when nobody could be asked. */
process.exitCode = await auditPackages({
  projectDir: join(import.meta.dirname, '..', '..'),
  log: (line) => console.log(line),
});
