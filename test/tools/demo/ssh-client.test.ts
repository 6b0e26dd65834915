import assert from 'node:assert/strict';
import { chooseSshClient, libraryClient } from '../../../tools/demo/ssh-client.js';
import {
  newRenterKey,
  requestOf,
  startLivingLab,
  untilActive,
  type LivingLab,
} from '../../lab/provider/living-lab.js';

describe("the demo's SSH clients", () => {
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

  for (const [kind, client] of [
    ['the one of this machine', chooseSshClient()],
    ["the library's", libraryClient],
  ] as const) {
    it(`run a command (${kind}) and see the machine's host key`, async () => {
      const result = await client.run(loginOf(key.pem));
      assert.deepEqual(
        { ...result, hostKeyFingerprint: null },
        { exitCode: 7, stdout: 'out\n', stderr: 'err\n', hostKeyFingerprint: null },
      );
      assert.match(result.hostKeyFingerprint ?? '', /^SHA256:[A-Za-z0-9+/]{43}$/);
    });

    it(`tell by exit code 255 (${kind}) that they were not let in`, async () => {
      const result = await client.run(loginOf(newRenterKey().pem));
      assert.equal(result.exitCode, 255);
      assert.match(result.stderr, /Permission denied|authentication methods failed/);
    });
  }

  it('see the same host key', async () => {
    const seen = await Promise.all(
      [chooseSshClient(), libraryClient].map((client) => client.run(loginOf(key.pem))),
    );
    assert.equal(new Set(seen.map(({ hostKeyFingerprint }) => hostKeyFingerprint)).size, 1);
  });
});
