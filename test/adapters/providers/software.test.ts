import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePorts } from '../../../lab/stack/ports.js';
import { noSoftware, ownSoftwareId, type Software } from '../../../domain/rentals/software.js';
import type { Pod } from '../../../adapters/providers/provider.js';
import { ownSoftware, servingWords } from '../../support/own-software.js';
import {
  newRenterKey,
  requestOf,
  runpodRequestOf,
  startLivingLab,
  until,
  untilActive,
  type LivingLab,
} from '../../lab/provider/living-lab.js';

const pageOf = (port: number) => ({ name: 'page', port, kind: 'http', public: true }) as const;

/** Fetches until somebody answers with a page. */
function untilServed(url: string): Promise<string> {
  return until(`${url} serves`, async () => {
    const answer = await fetch(url).catch(() => undefined);
    return answer?.status === 200 ? answer.text() : undefined;
  });
}

describe('own software at RunPod', () => {
  let lab: LivingLab;
  before(async () => {
    lab = await startLivingLab();
  });
  after(() => lab.stop());

  async function rent(software: Software, publicKeys: string[] = []): Promise<Pod> {
    const request = runpodRequestOf({ templateId: ownSoftwareId, software, publicKeys });
    await lab.runpod.allocate(request);
    return untilUp(request.tag);
  }
  /** Waits without an address for SSH, which not every machine has. */
  const untilUp = (tag: string): Promise<Pod> =>
    until(tag, async () => {
      const pod = await lab.runpod.find(tag);
      return pod?.status === 'active' ? pod : undefined;
    });

  it('serves a page that anybody fetches through its endpoint', async () => {
    const [port = 0] = await findFreePorts(1);
    const args = servingWords(port, 'it’s “served”');
    const pod = await rent({ ...noSoftware, image: 'lab/command:1', args, ports: [pageOf(port)] });
    assert.equal(await untilServed(pod.ports?.[0]?.url ?? ''), 'it’s “served”');
    assert.equal(pod.host, null, 'nobody asked for SSH');
  });

  it('opens a tcp port under a number of its own, another one after a restart', async () => {
    const [port = 0] = await findFreePorts(1);
    const ports = [{ name: 'tcp', port, kind: 'tcp', public: true }] as const;
    const pod = await rent({ ...noSoftware, image: 'lab/command:1', args: servingWords(port, 'x'), ports });
    const [opened] = pod.ports ?? [];
    assert.equal(opened?.changesOnRestart, true);
    assert.equal(await untilServed(`http://${opened.host}:${opened.hostPort}/`), 'x');
    await lab.call('POST', `/lab/pods/${pod.podId}/restart`, {});
    const again = await untilUp(pod.tag);
    assert.notEqual(again.ports?.[0]?.hostPort, opened.hostPort);
    assert.equal(await untilServed(`http://${opened.host}:${again.ports?.[0]?.hostPort}/`), 'x');
  });

  it('does not open a port that is not public', async () => {
    const ports = [{ ...pageOf(8080), public: false }];
    const pod = await rent({ ...noSoftware, image: 'lab/command:1', ports });
    assert.deepEqual(pod.ports, []);
    assert.equal((await fetch(`${lab.url()}/proxy/${pod.podId}-8080/`)).status, 404);
  });

  it('opens SSH where the renter has a key, whether or not the image answers', async () => {
    const pod = await rent({ ...noSoftware, image: 'lab/sshd-command:1' }, [newRenterKey().line]);
    await new Promise<void>((resolve, reject) => {
      connect(pod.port ?? 0, pod.host ?? '')
        .once('data', () => resolve())
        .once('error', reject);
    });
  });

  it('gets its variables, its disk and its credentials, which go once it has started', async () => {
    const image = 'registry.lab/team/command:1';
    const pod = await rent(ownSoftware({ image, args: ['true'], diskGb: 120 }));
    const { pods, registries } = await lab.state();
    const made = pods.find(({ id }) => id === pod.podId);
    assert.equal(made?.disk, 120);
    assert.ok(made.envs.some(({ name, value }) => name === 'GREETING' && value === 'hello $HOME'));
    assert.deepEqual(
      registries.map(({ name, username, password }) => [name, username, password]),
      [[pod.tag, 'renter', 'pull-me']],
    );
    const { credentials } = lab.runpod;
    const kept = await credentials!.list();
    assert.deepEqual(kept, [{ id: kept[0]?.id, tag: pod.tag }]);
    for (let times = 0; times < 2; times += 1) await credentials!.remove(kept[0]!.id);
    assert.deepEqual((await lab.state()).registries, []);
  });

  it('leaves the credentials of others alone', async () => {
    await lab.call('POST', '/v2/registries', { name: 'other-1', username: 'a', password: 'b' });
    assert.deepEqual(await lab.runpod.credentials!.list(), []);
  });

  it('fails where the image can’t be pulled', async () => {
    const software = { ...noSoftware, image: 'registry.lab/team/command:1' };
    const request = runpodRequestOf({ templateId: ownSoftwareId, software });
    await lab.runpod.allocate(request);
    await until('it is lost', async () => {
      const pod = await lab.runpod.find(request.tag);
      return pod?.status === 'lost' ? pod : undefined;
    });
  });
});

describe('own software at Shadeform', () => {
  let lab: LivingLab;
  before(async () => {
    lab = await startLivingLab();
  });
  after(() => lab.stop());

  async function rent(templateId: string, software: Software): Promise<Pod> {
    const request = requestOf({ templateId, software });
    await lab.provider.allocate(request);
    return untilActive(lab.provider, request.tag);
  }
  const homeFile = (pod: Pod, name: string): Promise<string> =>
    until(`${name} is there`, async () => {
      const { pods } = await lab.state();
      const found = pods.find(({ id }) => id === pod.podId);
      await sleep(5);
      try {
        return readFileSync(join(lab.homesDir(), found?.id ?? '', 'home', name), 'utf8');
      } catch {
        return undefined;
      }
    });

  it('runs the renter’s script with their variables, behind a firewall that opens what is public', async () => {
    const [port = 0] = await findFreePorts(1);
    const [node, ...words] = servingWords(port, 'unset');
    const startScript = [
      '#!/bin/bash',
      'printf "%s" "$GREETING" > "$HOME/greeted"',
      `exec '${node}' ${words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')}`,
    ].join('\n');
    const ports = [pageOf(port), { name: 'admin', port: 9_999, kind: 'tcp', public: false }] as const;
    const env = { GREETING: 'it’s $HOME `x`\nand more' };
    const pod = await rent('ubuntu-24-04', { ...noSoftware, startScript, env, ports });
    assert.equal(await untilServed(`http://${pod.host}:${port}/`), 'unset');
    assert.equal(await homeFile(pod, 'greeted'), env.GREETING);
    const rules = (await homeFile(pod, 'firewall.log')).trim().split('\n');
    assert.deepEqual(rules, [
      ...['ufw default deny incoming', 'ufw allow 22/tcp', `ufw allow ${port}/tcp`, 'ufw --force enable'],
    ]);
  });

  it('starts the renter’s image with its ports, words and credentials', async () => {
    const ports = [pageOf(8080), { name: 'admin', port: 9000, kind: 'tcp', public: false }] as const;
    const pod = await rent(ownSoftwareId, ownSoftware({ ports }));
    const [signIn, run, signOut] = (await homeFile(pod, 'containers.log')).trim().split('\n');
    assert.equal(signIn, 'docker login -u renter --password-stdin registry.example');
    assert.match(
      run ?? '',
      / -p 8080:8080 -p 127\.0\.0\.1:9000:9000 -e GREETING=hello \$HOME registry\.example\/team\/server:1 --greeting it’s “me”$/,
    );
    assert.doesNotMatch(run ?? '', /entrypoint/);
    assert.equal(signOut, 'docker logout registry.example');
  });
});
