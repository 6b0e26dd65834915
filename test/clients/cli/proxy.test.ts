import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { fetchOf } from '../../../clients/cli/src/http/proxy.js';
import { exitCodes } from '../../../clients/cli/src/exit-codes.js';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import { until } from '../../support/until.js';
import { GpuUser, type RunOptions } from './support/gpu.js';
import { mailedCode, Person } from './support/person.js';

describe('gpu behind a proxy', () => {
  let mock: MockServer;
  let ann: Person;
  let proxy: Server;
  let proxyUrl: string;
  const asked: string[] = [];

  before(async () => {
    mock = await startMock({ port: 0 });
    ann = await Person.at(mock);
    proxy = createServer((_request, response) => response.writeHead(400).end());
    proxy.on('connect', (request, client) => {
      asked.push(request.url ?? '');
      // Whatever is asked for, it leads to the mock: names need not exist.
      const upstream = connect(Number(new URL(mock.url).port), '127.0.0.1', () => {
        client.write('HTTP/1.1 200 Connection established\r\n\r\n');
        upstream.pipe(client);
        client.pipe(upstream);
      });
      upstream.on('error', () => client.destroy());
      client.on('error', () => upstream.destroy());
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    proxyUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  });
  beforeEach(() => asked.splice(0));
  after(async () => {
    proxy.close();
    proxy.closeAllConnections();
    await mock.stop();
  });

  for (const variable of ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY']) {
    it(`sends its requests through ${variable}, and reads the answers`, async () => {
      const { code, out, err } = await ann.type('balance', { env: { [variable]: proxyUrl } });
      assert.equal(code, 0, err);
      assert.match(out, /^Available +\$0\.00/);
      assert.deepEqual([...new Set(asked)], [new URL(mock.url).host]);
    });
  }

  it('takes a proxy without a scheme, as curl does, and says what is none', async () => {
    const { code, err } = await ann.type('balance', { env: { HTTP_PROXY: new URL(proxyUrl).host } });
    assert.equal(code, 0, err);
    assert.ok(asked.length > 0);
    for (const wrong of ['ftp://x', 'http://', 'a b']) {
      const refused = await ann.type('balance', { env: { HTTPS_PROXY: wrong } });
      assert.equal(refused.code, exitCodes.usage, refused.err);
      assert.match(refused.err, /^HTTPS_PROXY is not a proxy/);
    }
  });

  it('plays the whole story behind one without a scheme: signs in, pays, rents, lists and stops', async () => {
    const bob = new GpuUser(mock.url);
    const host = new URL(proxyUrl).host;
    const env = { HTTP_PROXY: host, HTTPS_PROXY: host };
    const play = async (line: string, options: RunOptions = {}): Promise<string> => {
      asked.splice(0);
      const { code, out, err } = await bob.type(line, { env, ...options });
      assert.equal(code, 0, `${line}: ${err}`);
      assert.deepEqual([...new Set(asked)], [new URL(mock.url).host], line);
      return out;
    };
    await play('login --email proxied@example.com', { types: mailedCode });
    const paid = new Set<string>();
    await play('pay 25 --no-browser', {
      onOutput: (all) => {
        const url = /http\S+checkout\S+/.exec(all)?.[0];
        if (url === undefined || paid.has(url)) return;
        paid.add(url);
        void fetch(url, { redirect: 'manual' });
      },
    });
    const { id } = JSON.parse(await play('rent rtx-4090 --yes --json')) as { id: string };
    assert.match(await play('ls --json'), new RegExp(id));
    await play(`stop ${id} --yes`);
    await until('it is gone', async () => (await play('ls')).startsWith('No machines running.'));
  });

  it('sends what has a body through it too', async () => {
    await ann.pay(10);
    const { code, err } = await ann.type('rent rtx-4090 --yes --no-wait', { env: { HTTP_PROXY: proxyUrl } });
    assert.equal(code, 0, err);
    assert.ok(asked.length > 0);
    assert.equal(
      (await ann.type('stop', { env: { HTTP_PROXY: proxyUrl } })).code,
      exitCodes.usage,
      'it is asked which',
    );
    assert.equal((await ann.type('stop --all --yes')).code, 0);
  });

  it('opens a tunnel for https, by HTTPS_PROXY', async () => {
    const fetchByProxy = fetchOf({ env: { HTTPS_PROXY: proxyUrl } });
    // The mock speaks no TLS, so the tunnel is as far as it goes.
    await assert.rejects(fetchByProxy('https://gpu.example.com/'));
    assert.deepEqual(asked, ['gpu.example.com:443']);
  });

  it('goes straight to the hosts of NO_PROXY, and needs none where none is set', async () => {
    const env = { HTTP_PROXY: proxyUrl, NO_PROXY: '127.0.0.1' };
    assert.equal((await ann.type('balance', { env })).code, 0);
    assert.equal((await ann.type('balance', { env: { HTTP_PROXY: '', HTTPS_PROXY: '' } })).code, 0);
    assert.deepEqual(asked, []);
  });

  it('says that the proxy is not there', async () => {
    const { code, err } = await ann.type('balance', { env: { HTTP_PROXY: 'http://127.0.0.1:1' } });
    assert.equal(code, exitCodes.network, err);
    assert.match(err, /HTTPS_PROXY/);
  });
});
