import assert from 'node:assert/strict';
import { join } from 'node:path';
import { readStackSettings } from '../../../lab/stack/settings.js';
import { urlsOf } from '../../../lab/stack/urls.js';

describe("the stack's settings", () => {
  it('need nothing from the environment', () => {
    const settings = readStackSettings({});
    assert.equal(settings.dataDir, join(settings.projectDir, '.data'));
    assert.deepEqual(settings.ports, {
      api: 8080,
      postgres: 54329,
      temporal: 7233,
      temporalUi: 8233,
      provider: 9100,
      processor: 9200,
      mail: 9300,
      smtp: 9325,
      apiMetrics: 9464,
      workerMetrics: 9465,
      listenerMetrics: 9466,
      listener: 8090,
    });
    assert.equal(settings.databaseUrl, null);
    assert.equal(settings.temporal, null);
  });

  it('name every fault at once, and the variable of each', () => {
    assert.throws(
      () =>
        readStackSettings({
          API_PORT: '0',
          LAB_SMTP_PORT: 'many',
          DATABASE_URL: 'mysql://x',
          TEMPORAL_ADDRESS: 'x',
        }),
      (error: Error) =>
        ['API_PORT', 'LAB_SMTP_PORT', 'DATABASE_URL', 'TEMPORAL_ADDRESS'].every((name) =>
          error.message.includes(name),
        ),
    );
  });

  it('refuse one port for two services', () => {
    assert.throws(() => readStackSettings({ API_PORT: '9300' }), /LAB_MAIL_PORT and API_PORT are both 9300/);
  });

  it('take an empty variable as not set', () => {
    const settings = readStackSettings({ DATABASE_URL: '', TEMPORAL_CLI_PATH: '', XDG_CACHE_HOME: '' });
    assert.equal(settings.databaseUrl, null);
    assert.equal(settings.cliPlaces.explicit, undefined);
    assert.match(settings.cliPlaces.cacheDir, /\.cache\/gpu-rental\/bin$/);
  });

  it('keep the CLI in XDG_CACHE_HOME', () => {
    const { cliPlaces } = readStackSettings({ XDG_CACHE_HOME: '/var/cache' });
    assert.equal(cliPlaces.cacheDir, '/var/cache/gpu-rental/bin');
  });
});

describe("the stack's addresses", () => {
  it('are those of its own servers', () => {
    const urls = urlsOf(readStackSettings({ API_PORT: '8081' }));
    assert.equal(urls.api, 'http://127.0.0.1:8081');
    assert.equal(urls.temporal, '127.0.0.1:7233');
    assert.equal(urls.temporalUi, 'http://127.0.0.1:8233');
  });

  it('show no password of a database that is not its own', () => {
    const urls = urlsOf(
      readStackSettings({
        DATABASE_URL: 'postgres://me:topsecret@db:5432/x',
        TEMPORAL_ADDRESS: 'temporal:7233',
      }),
    );
    assert.doesNotMatch(urls.database, /topsecret/);
    assert.equal(urls.temporal, 'temporal:7233');
    assert.equal(urls.temporalUi, null);
  });
});
