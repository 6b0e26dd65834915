import assert from 'node:assert/strict';
import { providersFor } from '../../../activities/rentals/allocation.js';
import type { Provider } from '../../../adapters/providers/provider.js';
import { lambdaSoftware } from '../../../adapters/providers/lambda/lambda-software.js';
import { runpodSoftware } from '../../../adapters/providers/runpod/runpod-software.js';
import { shadeformSoftware } from '../../../adapters/providers/shadeform/shadeform-software.js';
import { vastSoftware } from '../../../adapters/providers/vast/vast-software.js';
import { ownScriptLines } from '../../../adapters/providers/startup-script.js';
import { endpointsOf } from '../../../domain/rentals/endpoints.js';
import { misfitsOfWish } from '../../../domain/rentals/misfits.js';
import {
  fetching,
  holdsSecrets,
  imageNeedsOf,
  isFetched,
  keyMisfitsOf,
  misfitsOf,
  noSoftware,
  outlineOf,
  ownSoftwareId,
  publicPortsOf,
  type Software,
  type SoftwareCapabilities,
  type SoftwareOutline,
  type SoftwarePort,
} from '../../../domain/rentals/software.js';
import { ownSoftware } from '../../support/own-software.js';

const open = (name: string, port: number, kind: 'http' | 'tcp' = 'http'): SoftwarePort => ({
  ...{ name, port, kind, public: true },
});

describe('what an upstream can’t do of a wish', () => {
  const misfits = (
    change: Partial<Software>,
    able: SoftwareCapabilities | undefined,
    templateId: string = change.image ? ownSoftwareId : 'ubuntu-24-04',
  ) =>
    misfitsOf(outlineOf({ ...noSoftware, ...change }, null), able, templateId).map(({ field, limit }) => [
      field,
      limit,
    ]);

  it('is nothing where all fits', () => {
    const ports = [open('page', 8080), open('db', 5432, 'tcp')];
    assert.deepEqual(misfits(ownSoftware({ ports, diskGb: 200 }), runpodSoftware), []);
    assert.deepEqual(misfits({ startScript: 'true', env: { A: 'b' }, ports }, shadeformSoftware), []);
  });

  it('is told by field and limit', () => {
    assert.deepEqual(misfits({ startScript: 'true' }, runpodSoftware), [['startScript', null]]);
    assert.deepEqual(misfits({ diskGb: 201 }, runpodSoftware), [['diskGb', 200]]);
    assert.deepEqual(misfits({ diskGb: 1 }, shadeformSoftware), [['diskGb', 0]]);
    assert.deepEqual(misfits({ args: ['a'.repeat(4_096), 'b'] }, runpodSoftware), [['args', 4_096]]);
    const eleven = Array.from({ length: 11 }, (_, index) => open(`p${index}`, 8000 + index));
    assert.deepEqual(misfits({ ports: eleven }, runpodSoftware), [['ports', 10]]);
    assert.deepEqual(misfits({ image: 'x', startScript: 'true' }, shadeformSoftware), [
      ['startScript', null],
    ]);
  });

  it('is variables that nothing takes: no image, no start script, no template that has them', () => {
    const env = { A: 'b' };
    const none = [['env', null]];
    for (const able of [shadeformSoftware, lambdaSoftware, vastSoftware]) {
      assert.deepEqual(misfits({ env }, able), none);
      assert.deepEqual(misfits({ env, startScript: 'true' }, able), []);
    }
    for (const templateId of ['jupyter', 'pytorch']) {
      for (const able of [shadeformSoftware, lambdaSoftware, runpodSoftware]) {
        assert.deepEqual(misfits({ env }, able, templateId), []);
      }
      assert.deepEqual(misfits({ env }, fetching(vastSoftware, 1_024), templateId), none);
    }
    assert.deepEqual(misfits({ env }, runpodSoftware), []);
    for (const able of [shadeformSoftware, runpodSoftware]) {
      assert.deepEqual(misfits({ env, image: 'x' }, able), []);
    }
    // What a worker of the release before has told.
    const { envTemplates: _, ...ofRelease03 } = shadeformSoftware;
    assert.deepEqual(misfits({ env }, ofRelease03, 'jupyter'), none);
  });

  it('names what no image, no registry and no closed port are', () => {
    const able = { ...runpodSoftware, image: 'none', registryAuth: false, keepsClosed: false } as const;
    const ports = [{ ...open('page', 8080), public: false }];
    assert.deepEqual(misfits(ownSoftware({ ports }), able), [
      ['image', null],
      ['registryAuth', null],
      ['ports', null],
    ]);
  });

  it('is a script that is too large, where its machine can’t fetch it', () => {
    const large = { startScript: 'x'.repeat(20_000) };
    assert.deepEqual(misfits(large, vastSoftware), [['startScript', 1_024]]);
    assert.deepEqual(misfits({ startScript: 'true', env: { A: 'x'.repeat(600) } }, vastSoftware), [
      ['env', 512],
      ['env', 512],
    ]);
    const able = fetching(vastSoftware, 1_024);
    assert.deepEqual(misfits({ ...large, env: { A: 'x'.repeat(600) } }, able), []);
    assert.deepEqual(misfits({ ...large, image: 'x' }, able).length, 1, 'an image runs none');
  });

  it('is an entrypoint that can’t be what its renter says', () => {
    const scripted = { image: 'x', entrypoint: 'replace', startScript: 'true' } as const;
    const words = { image: 'x', entrypoint: 'replace', args: ['serve'] } as const;
    for (const able of [runpodSoftware, shadeformSoftware]) {
      for (const wish of [scripted, words]) assert.deepEqual(misfits(wish, able), []);
      const large = [['startScript', able.scriptMaxBytes ?? 65_536]];
      assert.deepEqual(misfits({ ...scripted, args: ['x'.repeat(70_000)] }, able), large);
    }
    // Vast would open each port that the image exposes, which nobody asked for.
    for (const able of [lambdaSoftware, vastSoftware]) {
      assert.deepEqual(misfits(scripted, able), [
        ['image', null],
        ['entrypoint', null],
      ]);
    }
    assert.deepEqual(misfits({ ...words, args: ['x'.repeat(2_000)] }, runpodSoftware), []);
    const ofRelease03 = { ...runpodSoftware, entrypoint: undefined } as unknown as SoftwareCapabilities;
    assert.deepEqual(misfits(scripted, ofRelease03), [['entrypoint', null]]);
  });

  it('is all of it at an upstream that takes none', () => {
    assert.deepEqual(misfits({ startScript: 'true' }, undefined), [['startScript', null]]);
    assert.deepEqual(misfits({ ports: [open('page', 80)] }, undefined), [['ports', null]]);
  });

  it('never repeats a value', () => {
    const secret = 'planted-secret';
    const wish = ownSoftware({
      args: [secret.repeat(500)],
      env: { A: secret.repeat(5_000) },
      startScript: secret,
    });
    const told = [shadeformSoftware, runpodSoftware, undefined].map((able) =>
      misfitsOf(outlineOf(wish, null), able, ownSoftwareId),
    );
    assert.ok(told.flat().length > 3);
    assert.doesNotMatch(JSON.stringify([told, outlineOf(wish, null)]), /planted/);
  });

  it('counts as a secret what may hold one', () => {
    assert.equal(holdsSecrets(noSoftware), false);
    const each: Partial<Software>[] = [
      ...[{ args: ['a'] }, { env: { A: '' } }, { startScript: 'a' }],
      { registryAuth: { username: 'a', password: 'b' } },
    ];
    for (const one of each) assert.equal(holdsSecrets({ ...noSoftware, ...one }), true, JSON.stringify(one));
  });
});

describe('SSH keys', () => {
  it('are too long for an upstream alone, or beside a start script, and for no other', () => {
    const script = outlineOf({ ...noSoftware, startScript: 'true' }, null);
    const misfits = (keysChars: number | undefined, software?: SoftwareOutline) =>
      keyMisfitsOf({ keysChars, software }, vastSoftware).map(({ field, limit }) => [field, limit]);
    assert.deepEqual(misfits(3_701), [['sshKeyIds', 3_700]]);
    assert.deepEqual(misfits(2_201, script), [['sshKeyIds', 2_200]]);
    assert.deepEqual([misfits(3_700), misfits(2_200, script), misfits(undefined)], [[], [], []]);
    for (const able of [runpodSoftware, null]) assert.deepEqual(keyMisfitsOf({ keysChars: 1e6 }, able), []);
  });

  it('leave less to variables beside a start script, unless machines fetch both', () => {
    const software = { ...noSoftware, startScript: 'x'.repeat(700), args: ['a'], env: { NAME: 'ü', B: '' } };
    const outline = outlineOf(software, null);
    const lengthOf = (wish: Software) => ownScriptLines(wish).join('\n').length;
    assert.equal(outline.exportChars, lengthOf(software) - lengthOf({ ...software, env: {} }));
    const misfits = (exportChars: number, able: SoftwareCapabilities) =>
      misfitsOfWish(
        { templateId: 'ubuntu-24-04', keysChars: 1_200, software: { ...outline, exportChars } },
        { software: able },
      ).map(({ field, limit }) => [field, limit]);
    // The script and its argument leave 428 of the 1,368 characters that the longest script takes.
    assert.deepEqual([misfits(1_428, vastSoftware), misfits(1_429, vastSoftware)], [[], [['env', 1_428]]]);
    assert.deepEqual(misfits(1e6, fetching(vastSoftware, 1_024)), []);
    const { exportChars: _, ...before } = outline;
    assert.deepEqual(keyMisfitsOf({ software: before, keysChars: 2_200 }, vastSoftware), []);
  });

  it('that are too long keep a worker from an upstream, too', () => {
    const vast = { code: 'vast', templates: new Set(['pytorch']), software: vastSoftware };
    const deps = { providers: new Map([['vast', vast as unknown as Provider]]), settings: {} as never };
    const codes = (keysChars: number) => providersFor(deps, { templateId: 'pytorch', keysChars });
    assert.deepEqual([codes(3_700), codes(3_701)], [['vast'], []]);
  });
});

describe('a start script', () => {
  const isSo = (change: Partial<Software>, able: SoftwareCapabilities | undefined) =>
    isFetched({ ...noSoftware, ...change }, able);
  const able = fetching(shadeformSoftware, 100);

  it('is fetched where it is too large for its upstream, or has variables', () => {
    assert.ok(isSo({ startScript: 'ü'.repeat(51) }, able));
    assert.ok(isSo({ startScript: 'true', env: { A: '' } }, able));
    const scripted = { image: 'x', entrypoint: 'replace', startScript: 'true' } as const;
    assert.ok(isSo({ ...scripted, args: ['x'.repeat(97)] }, able));
    assert.ok(!isSo({ ...scripted, args: ['x'.repeat(94)] }, able));
  });

  it('goes to the upstream where it fits, where there is none, and where nothing can be fetched', () => {
    assert.ok(!isSo({ startScript: 'ü'.repeat(50) }, able));
    assert.ok(!isSo({ env: { A: 'b' } }, able));
    const words = { image: 'x', entrypoint: 'replace', args: ['serve'], env: { A: 'b' } } as const;
    assert.ok(!isSo(words, able), 'words alone are no script');
    assert.ok(!isSo({ image: 'x', startScript: 'true', env: { A: 'b' } }, able));
    for (const other of [shadeformSoftware, undefined]) {
      assert.ok(!isSo({ startScript: 'x'.repeat(60_000), env: { A: 'b' } }, other));
    }
  });
});

describe('an image whose entrypoint is replaced', () => {
  const outline = (change: Partial<Software>) =>
    outlineOf({ ...noSoftware, image: 'x', entrypoint: 'replace', ...change }, null);

  it('needs a shell and a program that fetches for a script, and nothing for words', () => {
    assert.deepEqual(imageNeedsOf(outline({ startScript: 'true' })), [
      'sh',
      'base64',
      'mktemp',
      'chmod',
      'curl_or_wget',
    ]);
    assert.deepEqual(imageNeedsOf(outline({ args: ['serve'] })), []);
    assert.deepEqual(imageNeedsOf(outline({ entrypoint: 'keep' })), []);
  });
});

describe('endpoints', () => {
  const ports = [open('page', 8080), open('db', 5432, 'tcp'), { ...open('admin', 9000), public: false }];
  const closed = { url: null, host: null, port: null, tls: false };

  it('are at the machine’s own address where its upstream maps none, and private ones nowhere', () => {
    const [page, db, admin] = endpointsOf('vllm', { ports }, { host: '2001:db8::1', ports: null });
    assert.equal(page?.url, 'http://[2001:db8::1]:8080/');
    assert.deepEqual([db?.host, db?.port, db?.tls], ['2001:db8::1', 5432, false]);
    assert.deepEqual({ ...admin }, { ...admin, ...closed, public: false, machinePort: 9000 });
  });

  it('are where its upstream has mapped them', () => {
    const url = 'https://p1-8080.proxy.example/';
    const mapped = [
      { port: 8080, url, host: null, hostPort: null, changesOnRestart: false },
      { port: 5432, url: null, host: '192.0.2.1', hostPort: 30_000, changesOnRestart: true },
    ];
    const [page, db] = endpointsOf('vllm', { ports }, { host: '192.0.2.9', ports: mapped });
    assert.deepEqual([page?.url, page?.tls, page?.changesOnRestart], [url, true, false]);
    assert.deepEqual([db?.host, db?.port, db?.changesOnRestart], ['192.0.2.1', 30_000, true]);
  });

  it('have no address before that', () => {
    for (const reach of [
      { host: null, ports: null },
      { host: '192.0.2.9', ports: [] },
    ]) {
      assert.deepEqual(
        endpointsOf('vllm', { ports }, reach).map(({ url, host }) => url ?? host),
        [null, null, null],
      );
    }
  });

  it('that are public are named', () => {
    assert.deepEqual(publicPortsOf({ ports }), ['page', 'db']);
  });
});
