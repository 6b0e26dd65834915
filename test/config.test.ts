import assert from 'node:assert/strict';
import { ConfigError, readConfig } from '../config.js';

const ENV = {
  DATABASE_URL: 'postgres://u:p@127.0.0.1:5432/db',
  TEMPORAL_ADDRESS: '127.0.0.1:7233',
  DASHBOARD_URL: 'http://127.0.0.1',
  SMTP_URL: 'smtp://127.0.0.1:25',
};
const LAB = { LAB_PROVIDER_URL: 'http://127.0.0.1:9100', LAB_PROVIDER_KEY: 'lab-key' };

describe('the configuration of upstream providers', () => {
  const providersOf = (env: Record<string, string>) =>
    readConfig({ ...ENV, ...env }).providers.map(({ code, dialect, url }) => [code, dialect, url]);

  it('enables each by its key, all at once', () => {
    assert.deepEqual(providersOf({}), []);
    assert.deepEqual(providersOf({ SHADEFORM_API_KEY: '', RUNPOD_API_KEY: ' ' }), []);
    assert.deepEqual(providersOf({ RUNPOD_API_KEY: 'k' }), [['runpod', 'runpod', 'https://api.runpod.io']]);
    assert.deepEqual(
      providersOf({ SHADEFORM_API_KEY: 'k', RUNPOD_API_KEY: 'k', RUNPOD_API_URL: 'http://127.0.0.1:1' }),
      [
        ['shadeform', 'shadeform', 'https://api.shadeform.ai/v1'],
        ['runpod', 'runpod', 'http://127.0.0.1:1'],
      ],
    );
  });

  it('speaks to the lab by each dialect that is asked for, as providers of their own', () => {
    assert.deepEqual(providersOf(LAB), [['lab', 'shadeform', 'http://127.0.0.1:9100']]);
    assert.deepEqual(providersOf({ ...LAB, LAB_PROVIDER_DIALECTS: 'runpod' }), [
      ['lab-runpod', 'runpod', 'http://127.0.0.1:9100'],
    ]);
    assert.deepEqual(
      providersOf({ ...LAB, LAB_PROVIDER_DIALECTS: ' runpod , shadeform,runpod' }).map(([code]) => code),
      ['lab', 'lab-runpod'],
    );
    assert.deepEqual(providersOf({ LAB_PROVIDER_DIALECTS: 'runpod' }), []);
  });

  it('refuses a dialect that it does not know', () => {
    for (const LAB_PROVIDER_DIALECTS of ['vast', 'shadeform;runpod', 'runpod,', 'runpods']) {
      assert.throws(() => providersOf({ ...LAB, LAB_PROVIDER_DIALECTS }), ConfigError);
    }
  });
});
