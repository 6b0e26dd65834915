import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startupScript } from '../../../adapters/providers/startup-script.js';
import { noSoftware } from '../../../domain/rentals/software.js';
import { shadeformTemplates } from '../../../adapters/providers/offers/templates.js';

const THROW_AWAY = 'ssh-ed25519 AAAAthrowaway';
const RENTER = ['ssh-ed25519 AAAArenter1', 'ssh-rsa AAAArenter2'];

describe('the startup script of a pod', () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'startup-script-'));
    mkdirSync(join(home, '.ssh'));
    mkdirSync(join(home, 'bin'));
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));

  const keysFile = (): string => join(home, '.ssh', 'authorized_keys');
  function run(script: string): void {
    const env = { HOME: home, PATH: `${join(home, 'bin')}:/usr/bin:/bin` };
    execFileSync('bash', ['-c', script], { env, stdio: 'pipe' });
  }
  const lines = (): string[] =>
    readFileSync(keysFile(), 'utf8')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));

  it('puts the renter’s keys beside the throw-away key, once however often it runs', () => {
    // The file has no line feed at its end: the first added key must not run on into its last line.
    writeFileSync(keysFile(), `${THROW_AWAY} name`);
    const script = startupScript({ throwAwayKey: THROW_AWAY, publicKeys: RENTER, container: null });
    run(script);
    run(script);
    assert.deepEqual(lines(), [`${THROW_AWAY} name`, ...RENTER]);
  });

  it('leaves a file alone that does not hold the throw-away key', () => {
    writeFileSync(keysFile(), 'ssh-ed25519 AAAAsomeone\n');
    run(startupScript({ throwAwayKey: THROW_AWAY, publicKeys: RENTER, container: null }));
    assert.deepEqual(lines(), ['ssh-ed25519 AAAAsomeone']);
  });

  it('starts the container of the template, bound to loopback', () => {
    writeFileSync(join(home, 'bin', 'docker'), '#!/bin/sh\nprintf "%s\\n" "$@" > "$HOME/asked"\n', {
      mode: 0o755,
    });
    const { container } = shadeformTemplates['text-generation-webui'];
    run(startupScript({ throwAwayKey: THROW_AWAY, publicKeys: [], container }));
    const asked = readFileSync(join(home, 'asked'), 'utf8').trim().split('\n');
    assert.deepEqual(asked.slice(-6), [
      ...['--ipc=host', '-p', '127.0.0.1:7860:7860', '-e', 'EXTRA_LAUNCH_ARGS=--listen'],
      'atinoda/text-generation-webui:default',
    ]);
  });

  it('starts the container before the renter’s own script, which may never end', () => {
    const log = (name: string) =>
      writeFileSync(join(home, 'bin', name), `#!/bin/sh\necho ${name} $GREETING >> "$HOME/steps"\n`, {
        mode: 0o755,
      });
    for (const name of ['docker', 'ufw', 'sshd', 'sudo']) log(name);
    const { container } = shadeformTemplates['text-generation-webui'];
    const software = {
      ...noSoftware,
      ...{
        env: { GREETING: 'hello' },
        startScript: '#!/bin/sh\necho script $GREETING >> "$HOME/steps"; exit 1\n',
      },
      ports: [{ name: 'page', port: 8080, kind: 'http', public: true } as const],
    };
    const script = startupScript({ throwAwayKey: THROW_AWAY, publicKeys: [], container, software });
    assert.throws(() => run(script));
    const steps = readFileSync(join(home, 'steps'), 'utf8').trim().split('\n');
    assert.deepEqual(
      steps.filter((step) => !/^(ufw|sudo|sshd)/.test(step)),
      ['docker', 'script hello'],
    );
    assert.ok(!/^(docker|script)/.test(steps[0] ?? ''), 'the firewall comes first');
  });

  it('passes every word of a container on as it is', () => {
    writeFileSync(join(home, 'bin', 'docker'), '#!/bin/sh\nprintf "%s\\n" "$@" > "$HOME/asked"\n', {
      mode: 0o755,
    });
    const container = { image: 'image', ports: [], command: ["it's", '$HOME', '`id`', 'a b'], env: {} };
    run(startupScript({ throwAwayKey: THROW_AWAY, publicKeys: [], container }));
    const asked = readFileSync(join(home, 'asked'), 'utf8').trim().split('\n');
    assert.deepEqual(asked.slice(-5), ['image', "it's", '$HOME', '`id`', 'a b']);
  });
});
