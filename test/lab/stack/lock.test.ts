import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeStackData } from '../../../lab/stack/data.js';
import { findStackLock, lockDataDir, StackRunsError } from '../../../lab/stack/lock.js';
import { findRunningStack } from '../../../lab/stack/running.js';
import { readSecrets } from '../../../lab/stack/secrets.js';
import { readStackSettings } from '../../../lab/stack/settings.js';
import { urlsOf } from '../../../lab/stack/urls.js';

describe('the data folder of a stack', () => {
  const urls = urlsOf(readStackSettings({}));
  let dataDir: string;

  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'gpu-rental-lock-'));
  });
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

  const file = () => join(dataDir, 'stack.json');
  const leaveDeadLock = (changes: object) => {
    const lock = lockDataDir(dataDir, urls);
    const content = JSON.parse(readFileSync(file(), 'utf8')) as object;
    lock.release();
    writeFileSync(file(), JSON.stringify({ ...content, ...changes }));
  };

  it('is taken by one stack at a time, and the second is told which one runs', () => {
    const lock = lockDataDir(dataDir, urls);
    assert.throws(
      () => lockDataDir(dataDir, urls),
      (error: Error) => error instanceof StackRunsError && error.message.includes(`process ${process.pid}`),
    );
    lock.release();
    lockDataDir(dataDir, urls).release();
    assert.equal(existsSync(file()), false);
  });

  it('is taken over from a stack that died', () => {
    leaveDeadLock({ pid: 2 ** 22 + 1 });
    const lock = lockDataDir(dataDir, urls);
    assert.equal(lock.afterCrash, true);
    assert.equal(findStackLock(dataDir)?.pid, process.pid);
    lock.release();
  });

  it('is taken over when the pid of the dead stack belongs to another process now', () => {
    leaveDeadLock({ stamp: 'an earlier boot' });
    assert.equal(findStackLock(dataDir), undefined);
    lockDataDir(dataDir, urls).release();
  });

  it('keeps its secrets over a restart, readable by their owner only', () => {
    assert.deepEqual(readSecrets(dataDir), readSecrets(dataDir));
    assert.notEqual(
      readSecrets(dataDir).webhookSecret,
      readSecrets(mkdtempSync(join(dataDir, 'x'))).webhookSecret,
    );
  });

  it('is not removed while a stack runs on it', () => {
    const lock = lockDataDir(dataDir, urls);
    assert.throws(() => removeStackData({ dataDir }), /A stack runs on this data/);
    assert.equal(existsSync(file()), true);
    lock.release();
  });

  it('is emptied of what stacks keep, and of nothing else', () => {
    readSecrets(dataDir);
    mkdirSync(join(dataDir, 'mail'));
    writeFileSync(join(dataDir, 'mine.txt'), 'keep me');
    assert.deepEqual(removeStackData({ dataDir }), [join(dataDir, 'mail'), join(dataDir, 'secrets.json')]);
    assert.equal(readFileSync(join(dataDir, 'mine.txt'), 'utf8'), 'keep me');
  });

  it('is gone after a reset that left nothing in it', () => {
    readSecrets(dataDir);
    removeStackData({ dataDir });
    assert.equal(existsSync(dataDir), false);
  });

  describe('of a running stack', () => {
    let api: Server;
    const state = { status: 200 };

    beforeEach(async () => {
      api = createServer((request, response) => {
        response.writeHead(request.url === '/readyz' ? state.status : 404).end();
      });
      await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
    });
    afterEach(async () => {
      api.closeAllConnections();
      await new Promise((resolve) => api.close(resolve));
    });

    it('says where its parts are, and whether it is ready', async () => {
      assert.equal(await findRunningStack(dataDir), undefined);
      const apiUrl = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
      const lock = lockDataDir(dataDir, { ...urls, api: apiUrl });
      const running = await findRunningStack(dataDir);
      assert.equal(running?.urls.api, apiUrl);
      assert.equal(running.pid, process.pid);
      assert.equal(running.ready, true);
      state.status = 503;
      assert.equal((await findRunningStack(dataDir))?.ready, false);
      lock.release();
    });
  });
});
