import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isOfKind, startScriptedUpstream, type Handler, type ScriptedUpstream } from './scripted-upstream.js';

const lists = {
  shadeform: { path: 'GET /v1/instances', name: 'instances' },
  runpod: { path: 'GET /v2/pods', name: 'pods' },
} as const;
type Dialect = keyof typeof lists;

/** A machine as each upstream shows it, with a startup script or an environment like the real ones. */
const machines: Record<Dialect, (index: number) => object> = {
  shadeform: (index) => ({
    ...{ id: `pod-${index}`, name: `test-rent-${index}`, tags: [`test-rent-${index}`], status: 'active' },
    ...{ ip: '203.0.113.1', ssh_port: 22, ssh_user: 'shadeform', hourly_price: 210 },
    configuration: { memory_in_gb: 12, vcpus: 6, num_gpus: 1, gpu_type: 'A100', interconnect: 'pcie' },
    launch_configuration: { type: 'script', script_configuration: { base64_script: 'eA=='.repeat(250) } },
  }),
  runpod: (index) => ({
    ...{ id: `pod-${index}`, name: `test-rent-${index}`, status: 'RUNNING', cost: 2.1 },
    ssh: { direct: { host: '203.0.113.1', port: 10_000, username: 'root' } },
    env: { PUBLIC_KEY: 'ssh-ed25519 AAAA'.repeat(60) },
  }),
};

const MEGABYTE = 1024 * 1024;
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** The memory in use after a garbage collection, in bytes. */
function usedBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Writes this many machines as fast as they are read. Records the most memory in use meanwhile. */
function streams(dialect: Dialect, count: number, seen: { bytes: number; mostUsed: number }): Handler {
  return (response) => void write(response);
  async function write(response: ServerResponse): Promise<void> {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write(`{"${lists[dialect].name}":[`);
    for (let from = 0; from < count; from += 500) {
      const some = Array.from({ length: Math.min(500, count - from) }, (_, index) =>
        JSON.stringify(machines[dialect](from + index)),
      );
      const text = `${from === 0 ? '' : ','}${some.join(',')}`;
      seen.bytes += text.length;
      if (!response.write(text)) await once(response, 'drain');
      if (from % 5_000 === 0) seen.mostUsed = Math.max(seen.mostUsed, usedBytes());
    }
    response.end(']}');
  }
}

/** Writes the text as the answer. `end` false leaves the connection open. */
function says(text: string, end = true): Handler {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    if (end) response.end(text);
    else response.write(text);
  };
}

for (const dialect of ['shadeform', 'runpod'] as const) {
  const { path, name } = lists[dialect];
  describe(`the ${dialect} adapter: a list of any length (decision 75)`, () => {
    let upstream: ScriptedUpstream;
    beforeEach(async () => {
      upstream = await startScriptedUpstream(dialect);
    });
    afterEach(() => upstream.stop());

    it('reads 50,000 machines and keeps no more of them than it returns', async () => {
      const seen = { bytes: 0, mostUsed: 0 };
      upstream.handlers[path] = streams(dialect, 50_000, seen);
      const before = usedBytes();
      const pods = await upstream.provider.listPods();
      assert.equal(pods.length, 50_000);
      assert.deepEqual(
        [pods[0]?.podId, pods.at(-1)?.podId, pods.at(-1)?.pricePerHourCents],
        ['pod-0', 'pod-49999', 210],
      );
      assert.ok(seen.bytes > 50 * MEGABYTE, `${seen.bytes} bytes`);
      const usedMore = (seen.mostUsed - before) / MEGABYTE;
      assert.ok(usedMore < 40, `${usedMore} MB more were in use`);
    });

    it('finds one by its tag without reading the rest', async () => {
      const seen = { bytes: 0, mostUsed: 0 };
      upstream.handlers[path] = streams(dialect, 50_000, seen);
      const pod = await upstream.provider.find('test-rent-700');
      assert.equal(pod?.podId, 'pod-700');
      assert.ok(seen.bytes < 20 * MEGABYTE, `${seen.bytes} bytes were sent`);
    });

    it('tells an empty list from none, wherever it stands in the answer', async () => {
      upstream.handlers[path] = says(`{"total":0,"${name}":[],"more":{"${name}":[1]}}`);
      assert.deepEqual(await upstream.provider.listPods(), []);
      for (const text of [
        `{"total":0,"more":{"${name}":[]}}`,
        `{"${name}":{"0":{"id":"pod-1"}}}`,
        `{"${name}":"none"}`,
        `[{"${name}":[]}]`,
        '',
      ]) {
        upstream.handlers[path] = says(text);
        await assert.rejects(upstream.provider.listPods(), (error) => isOfKind(error, 'unknown'));
      }
    });

    const whole = JSON.stringify({ [name]: [machines[dialect](1), machines[dialect](2)] });
    for (const [what, handler] of Object.entries<Handler>({
      'that breaks off between two machines': says(whole.slice(0, whole.indexOf('pod-2') - 8)),
      'that breaks off within one': says(whole.slice(0, -20)),
      'that goes on after its end': says(`${whole}{}`),
      'of which the rest never comes': says(whole.slice(0, -20), false),
      'with a machine larger than all bounds': says(
        JSON.stringify({ [name]: [{ id: 'x'.repeat(5 * MEGABYTE) }] }),
      ),
    })) {
      it(`${what} is no list: nothing that it showed counts`, async () => {
        upstream.handlers[path] = handler;
        await assert.rejects(upstream.hasty.listPods(), (error) => isOfKind(error, 'unknown'));
      });
    }

    it('reads a list that comes slowly but surely for longer than a call may take', async () => {
      upstream.handlers[path] = (response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        const texts = [
          `{"${name}":[`,
          JSON.stringify(machines[dialect](1)),
          ...Array.from({ length: 6 }, () => ' '),
          ']}',
        ];
        const next = (): void => {
          const text = texts.shift();
          if (text === undefined) response.end();
          else response.write(text, () => setTimeout(next, 100));
        };
        next();
      };
      // This adapter's limit for a call is 300 ms.
      assert.equal((await upstream.hasty.listPods()).length, 1);
    });
  });
}
