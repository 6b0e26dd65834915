import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readStackSettings } from '../../../lab/stack/settings.js';
import { curlStory, describeStack } from '../../../lab/stack/story.js';
import { urlsOf } from '../../../lab/stack/urls.js';

describe('what npm start prints', () => {
  const settings = readStackSettings({ LAB_DATA_DIR: '/srv/data' });
  const urls = urlsOf(settings);

  it('names every part, the data and the logs', () => {
    const text = describeStack({ settings, urls, postgresDir: '/var/tmp/elsewhere/postgres' });
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

  it('tells how the command gpu finds it', () => {
    const text = describeStack({ settings, urls, postgresDir: null });
    assert.ok(text.includes(`export GPU_API_URL=${urls.api}\n  npx gpu login\n`), text);
  });

  it('ends with a story that a shell understands', () => {
    const shell = spawnSync('bash', ['-n'], { input: curlStory(urls), encoding: 'utf8' });
    assert.equal(shell.stderr, '');
    assert.equal(shell.status, 0);
  });
});
