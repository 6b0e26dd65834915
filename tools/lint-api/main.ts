import { join } from 'node:path';
import { describeApi } from '../../api/http/openapi/document.js';
import { lintApi } from './lint-api.js';

/** `npm run lint:api`: exit code 1 when the API's description breaks a rule of redocly.yaml. */
const { passed, output } = lintApi(describeApi(), join(import.meta.dirname, '..', '..'));
if (passed) console.log('lint:api: the description keeps every rule');
else {
  console.error(output);
  process.exitCode = 1;
}
