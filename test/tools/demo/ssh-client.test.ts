import assert from 'node:assert/strict';
import { libraryClient } from '../../../tools/demo/ssh-client.js';
import {
  newRenterKey,
  requestOf,
  startLivingLab,
  untilActive,
  type LivingLab,
} from '../../lab/provider/living-lab.js';

describe("the demo's SSH client for machines without OpenSSH", () => {
  const key = newRenterKey();
  let lab: LivingLab;
  let port: number;
  before(async () => {
    lab = await startLivingLab();
    const request = requestOf({ publicKeys: [key.line] });
    await lab.provider.allocate(request);
    port = (await untilActive(lab.provider, request.tag)).port;
  });
  after(() => lab.stop());

  const loginOf = (privatePem: string) => ({
    ...{ host: '127.0.0.1', port, username: 'shadeform', privatePem },
    command: 'echo out; echo err >&2; exit 7',
  });

  it("runs a command and sees the machine's host key", async () => {
    const result = await libraryClient.run(loginOf(key.pem));
    assert.deepEqual(
      { ...result, hostKeyFingerprint: null },
      { exitCode: 7, stdout: 'out\n', stderr: 'err\n', hostKeyFingerprint: null },
    );
    assert.match(result.hostKeyFingerprint ?? '', /^SHA256:[A-Za-z0-9+/]{43}$/);
  });

  it('tells by exit code 255 that it was not let in', async () => {
    const result = await libraryClient.run(loginOf(newRenterKey().pem));
    assert.equal(result.exitCode, 255);
    assert.match(result.stderr, /authentication methods failed/);
  });
});
