import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { variables } from '../../config.js';

const chart = 'deploy/helm/gpu-rental';
const read = (file: string) => parse(readFileSync(`${chart}/${file}`, 'utf8')) as unknown;
const secrets = read('secrets.yaml') as Record<string, { required: string[]; optional: string[] }>;

/** What the chart sets by itself, what it has another way for, and what only the local stack reads. */
const ownWay = [
  ...[
    'API_HOST',
    'API_PORT',
    'MACHINE_HOST',
    'MACHINE_PORT',
    'METRICS_HOST',
    'METRICS_PORT',
    'DATABASE_ROLE',
  ],
  ...['TEMPORAL_TLS_CLIENT_CERT_PATH', 'TEMPORAL_TLS_CLIENT_CERT_DATA', 'TEMPORAL_TLS_CLIENT_KEY_PATH'],
  ...['TEMPORAL_TLS_CLIENT_KEY_DATA', 'TEMPORAL_CONFIG_FILE', 'TEMPORAL_PROFILE'],
  ...['LAB_PROVIDER_URL', 'LAB_PROVIDER_KEY', 'LAB_PROVIDER_DIALECTS'],
];

describe('the Helm chart', () => {
  it('knows each variable of the service, as a setting or as a key of the Secret', () => {
    const { definitions } = read('values.schema.json') as {
      definitions: { settings: { properties: Record<string, unknown> } };
    };
    const settings = Object.keys(definitions.settings.properties);
    const keys = new Set(
      Object.values(secrets).flatMap(({ required, optional }) => [...required, ...optional]),
    );
    assert.deepEqual(
      [...settings, ...keys, ...ownWay].sort(),
      Object.keys(variables).sort(),
      `${chart}: a new variable goes to the settings of values.schema.json, or, as a secret, to secrets.yaml`,
    );
  });

  it('gives what buys machines and opens users’ secrets to the worker alone, and the schema’s owner to the migrations', () => {
    const holders = (key: string) =>
      Object.entries(secrets)
        .filter(([, { required, optional }]) => [...required, ...optional].includes(key))
        .map(([process]) => process);
    for (const key of ['SHADEFORM_API_KEY', 'LAMBDA_API_KEY', 'WEBHOOK_PRIVATE_KEYS', 'SMTP_URL']) {
      assert.deepEqual(holders(key), ['worker'], key);
    }
    assert.deepEqual(holders('INSTALLATION_KEY'), ['api', 'worker']);
    assert.deepEqual(holders('API_DATABASE_PASSWORD'), ['migrate']);
    assert.deepEqual(secrets['listener'], { required: ['DATABASE_URL'], optional: [] });
  });

  it('has the number of this release', () => {
    const { version, appVersion } = read('Chart.yaml') as Record<string, string>;
    const release = (parse(readFileSync('package.json', 'utf8')) as { version: string }).version;
    assert.deepEqual([version, appVersion], [release, release]);
  });
});
