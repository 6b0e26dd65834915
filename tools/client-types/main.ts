import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeApi } from '../../api/http/openapi/document.js';
import { clientTypesPath, generateClientTypes } from './generate.js';

/**
 * `npm run generate -w @gpu-rental/client` writes the types of the client anew; `npm run lint:client` only compares
 * them: exit code 1 when they are not those of the API's description.
 */
const projectDir = join(import.meta.dirname, '..', '..');
const path = join(projectDir, clientTypesPath);
const types = generateClientTypes(describeApi(), projectDir);

if (!process.argv.includes('--check')) writeFileSync(path, types);
else if (readFileSync(path, 'utf8') === types) {
  console.log('lint:client: the types of the client are those of the description');
} else {
  console.error(`${clientTypesPath} is not what the API's description gives.`);
  console.error('Run: npm run generate -w @gpu-rental/client');
  process.exitCode = 1;
}
