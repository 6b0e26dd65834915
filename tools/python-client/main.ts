import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeApi } from '../../api/http/openapi/document.js';
import { generatePythonClient } from './generate.js';

/**
 * `npm run generate:python` writes anew what the Python client does not write by hand; with --check it only compares: exit
 * code 1 when a file is not what the API's description gives.
 */
const folder = join(import.meta.dirname, '..', '..', 'clients', 'python', 'src', 'gpu_rental');
const isCheck = process.argv.includes('--check');

for (const [path, text] of generatePythonClient(describeApi(), folder)) {
  const file = join(folder, path);
  if (existsSync(file) && readFileSync(file, 'utf8') === text) continue;
  if (isCheck) {
    console.error(`clients/python/src/gpu_rental/${path} is not what the API's description gives.`);
    process.exitCode = 1;
  } else writeFileSync(file, text);
}
if (process.exitCode === 1) console.error('Run: npm run generate:python');
else if (isCheck) console.log('lint:client: the Python client is what the description gives');
