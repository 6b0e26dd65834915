import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { captureHostKey } from '../../../adapters/providers/ssh/ssh-probe.js';
import { openLabStore } from '../../../lab/provider/state.js';
import {
  login,
  newRenterKey,
  requestOf,
  startLivingLab,
  until,
  untilActive,
  type LivingLab,
} from './living-lab.js';

describe('lab provider: a restart', () => {
  const key = newRenterKey();
  let lab: LivingLab;
  beforeEach(async () => {
    lab = await startLivingLab();
  });
  afterEach(() => lab.stop());

  it('keeps pods with their port, host key, files and keys', async () => {
    const request = requestOf({ publicKeys: [key.line] });
    const { podId } = await lab.provider.allocate(request);
    const pod = await untilActive(lab.provider, request.tag);
    const at = { host: pod.host, port: pod.port, allowPrivate: true, timeoutMs: 2_000 };
    const enter = (command: string) => login({ port: pod.port, user: 'shadeform', key, command });
    await enter('echo kept > file');
    const fingerprint = await captureHostKey(at);
    await lab.restart();
    assert.deepEqual(await lab.provider.find(request.tag), pod);
    assert.equal(await captureHostKey(at), fingerprint);
    assert.equal((await enter('cat file')).stdout, 'kept\n');
    await lab.provider.terminate(podId);
    await until('the pod to be gone', async () =>
      (await lab.provider.find(request.tag)) ? undefined : true,
    );
  });

  it('goes on booting what was booting, and deleting what was being deleted', async () => {
    await lab.faults({ bootMs: 300, deleteMs: 60_000 });
    const booting = requestOf({ publicKeys: [key.line] });
    const ending = requestOf();
    await lab.provider.allocate(booting);
    const { podId } = await lab.provider.allocate(ending);
    await lab.provider.terminate(podId);
    await lab.restart();
    await untilActive(lab.provider, booting.tag);
    await until('the other to be gone', async () =>
      (await lab.provider.find(ending.tag)) ? undefined : true,
    );
  });

  it('keeps a crashed pod crashed, and an unreachable one unreachable', async () => {
    const [crashed, unreachable] = [requestOf(), requestOf()];
    for (const request of [crashed, unreachable]) {
      await lab.provider.allocate(request);
      await untilActive(lab.provider, request.tag);
    }
    await lab.crash((await lab.provider.find(crashed.tag))!.podId);
    await lab.crash((await lab.provider.find(unreachable.tag))!.podId, 'unreachable');
    await lab.restart();
    assert.equal((await lab.provider.find(crashed.tag))?.status, 'lost');
    const pod = await untilActive(lab.provider, unreachable.tag);
    assert.equal(await captureHostKey({ ...pod, allowPrivate: true, timeoutMs: 500 }), undefined);
  });

  it('forgets faults: a restarted lab is in good health', async () => {
    await lab.faults({ noCapacity: true });
    await lab.restart();
    await lab.provider.allocate(requestOf());
  });

  it('says what to do when its state can’t be read', () => {
    writeFileSync(join(lab.dataDir, 'state.json'), '{"version":');
    assert.throws(() => openLabStore(lab.dataDir), /remove it to begin anew/);
  });
});
