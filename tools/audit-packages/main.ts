import { join } from 'node:path';
import { auditPackages } from './audit-packages.js';

/** `npm run audit:packages`: exit code 1 when an advisory is found against a package, 75 when no registry answers. */
process.exitCode = await auditPackages({
  projectDir: join(import.meta.dirname, '..', '..'),
  log: (line) => console.log(line),
});
