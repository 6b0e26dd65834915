import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { dashboardUrlOf } from '../../../lab/stack/dashboard.js';
import { readStackSettings } from '../../../lab/stack/settings.js';
import { curlStory, describeStack } from '../../../lab/stack/story.js';
import { urlsOf } from '../../../lab/stack/urls.js';

describe('what npm start prints', () => {
  const settings = readStackSettings({ LAB_DATA_DIR: '/srv/data' });
  const urls = urlsOf(settings);
  const dashboardUrl = dashboardUrlOf(settings);

  it('names every part, the data and the logs', () => {
    const text = describeStack({ settings, urls, dashboardUrl, postgresDir: '/var/tmp/elsewhere/postgres' });
    const { api, mail, processor, provider, database, temporalUi } = urls;
    for (const part of [
      api,
      mail,
      processor,
      provider,
      database,
      temporalUi,
      '/srv/data',
      '/srv/data/logs',
    ]) {
      assert.ok(part !== null && text.includes(part), `${part} is missing`);
    }
    assert.match(text, /Database files +\/var\/tmp\/elsewhere\/postgres/);
  });

  it('names the dashboard first, where it is, or that there is none', () => {
    const first = (told: string | null) =>
      describeStack({ settings, urls, dashboardUrl: told, postgresDir: null }).split('\n')[2];
    assert.match(first(dashboardUrl) ?? '', /^Dashboard +http:\/\/127\.0\.0\.1:8080\/app$/);
    assert.match(first(null) ?? '', /^Dashboard +none: it could not be built/);
    const elsewhere = readStackSettings({ DASHBOARD_URL: 'http://localhost:5173' });
    assert.equal(dashboardUrlOf(elsewhere), 'http://localhost:5173/app');
  });

  it('tells how the command gpu finds it', () => {
    const text = describeStack({ settings, urls, dashboardUrl, postgresDir: null });
    assert.ok(text.includes(`export GPU_API_URL=${urls.api}\n  npx gpu login\n`), text);
  });

  it('ends with a story that a shell understands', () => {
    const shell = spawnSync('bash', ['-n'], { input: curlStory(urls), encoding: 'utf8' });
    assert.equal(shell.stderr, '');
    assert.equal(shell.status, 0);
  });
});
