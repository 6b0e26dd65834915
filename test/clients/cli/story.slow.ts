import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { Store } from '../../../clients/cli/src/config/store.js';
import { exitCodes } from '../../../clients/cli/src/exit-codes.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { filesIn } from '../../support/http/archive.js';
import { until } from '../../support/until.js';
import { gpuFile, keys, Terminal } from './support/terminal.js';

const page = 'docs/cli.md';
const [begin, end] = ['<!-- recorded -->', '<!-- end of the recording -->'];

/** The whole way of one user, each command at a real pseudo-terminal, against the whole service. */
describe('gpu, from the sign-in to the last cent', function () {
  this.timeout(300_000);

  let service: TestService;
  let folder: string;
  let env: Readonly<Record<string, string>>;
  let receiver: Server;
  const received: string[] = [];
  const terminals: Terminal[] = [];
  /** What was typed, and what the terminal showed then. */
  const recorded: string[] = [];
  const email = 'ann@example.com';

  before(async () => {
    service = await startService({ bootMs: 1_500, listener: true });
    folder = mkdtempSync(join(tmpdir(), 'gpu-cli-story-'));
    const home = join(folder, 'home');
    mkdirSync(home);
    env = { HOME: home, GPU_API_URL: service.api.url, BROWSER: browser(), NO_COLOR: '1' };
    receiver = createServer((request, response) => {
      void request.toArray().then((chunks) => {
        if (request.url === '/stored') {
          const { data } = JSON.parse(Buffer.concat(chunks as Buffer[]).toString()) as { data: object };
          response.end(JSON.stringify(data));
          return;
        }
        const event = new Webhook(readFileSync(join(folder, 'secret'), 'utf8').trim()).verify(
          Buffer.concat(chunks as Buffer[]).toString(),
          request.headers as Record<string, string>,
        ) as { type: string };
        received.push(event.type);
        response.writeHead(204).end();
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  });
  afterEach(() => terminals.splice(0).forEach((terminal) => terminal.kill()));
  after(async () => {
    receiver.close();
    receiver.closeAllConnections();
    rmSync(folder, { recursive: true, force: true });
    await service.stop();
  });

  /** A browser whose user fills in the payment page, and sends it. */
  function browser(): string {
    const file = join(folder, 'browser.mjs');
    const card = 'cardNumber=4242424242424242&cardExpiry=12/34&cardCvc=123';
    writeFileSync(
      file,
      `#!${process.execPath}
const headers = { 'content-type': 'application/x-www-form-urlencoded' };
await fetch(process.argv[2], { method: 'POST', headers, body: '${card}', redirect: 'manual' });\n`,
    );
    chmodSync(file, 0o755);
    return file;
  }

  function open(line: string, columns = 100): Terminal {
    const terminal = new Terminal(`${gpuFile} ${line}`, { env, columns });
    terminals.push(terminal);
    return terminal;
  }

  /** Keeps what a terminal shows for the page. */
  function keep(line: string, terminal: Terminal): void {
    recorded.push(`$ gpu ${line}`, terminal.shown.trimEnd(), '');
  }

  /** What shows paths of this computer, whose length would decide where its lines break. */
  const wide = { columns: 1_000 };

  /** Runs a command to its end, while somebody answers. */
  async function play(
    line: string,
    {
      columns,
      act,
    }: { readonly columns?: number; readonly act?: (terminal: Terminal) => Promise<void> } = {},
  ): Promise<string> {
    const terminal = open(line, columns);
    await act?.(terminal);
    assert.equal(await terminal.ended(), 0, terminal.shown);
    keep(line, terminal);
    return terminal.shown;
  }

  const usedCodes = new Set<string>();

  /** The code that was mailed last, once it is there. */
  async function newCode(): Promise<string> {
    const code = await until('the code arrives', async () => {
      const answer = await fetch(`${service.inbox.url}/mails?to=${encodeURIComponent(email)}`);
      const codes = [...(await answer.text()).matchAll(/code is (\d{6})/g)].map(([, digits = '']) => digits);
      return codes.find((digits) => !usedCodes.has(digits));
    });
    usedCodes.add(code);
    return code;
  }

  it('signs in with the mailed code, keeps a key of its own, and ends the session', async () => {
    const shown = await play('login', {
      act: async (terminal) => {
        await terminal.sees('Your email address');
        terminal.enter(email);
        await terminal.sees('Six-digit code');
        terminal.enter(await newCode());
      },
    });
    assert.match(shown, /Signed in as ann@example\.com until \d{4}-/);
    const user = await service.db('users').where({ email }).first();
    assert.ok(user);
    assert.deepEqual(await service.db('sessions').where({ user_id: user.id }).select(), []);
    const made = await service.db('api_keys').where({ user_id: user.id }).select('name', 'scopes');
    assert.deepEqual(
      made.map(({ scopes }) => scopes),
      [['read', 'rentals', 'billing']],
    );
    const { apiKey = '' } = new Store({ env: {}, home: env['HOME']! }).credentials(service.api.url);
    assert.match(apiKey, /^gpur_/);
    assert.ok(!shown.includes(apiKey), 'the key is not shown');
  });

  it('pays on the page that it opens', async () => {
    const shown = await play('pay 50');
    assert.match(shown, /Paid: \$50\.00 is in your wallet/);
  });

  it('rents after it was asked, with a second terminal that sees the events, verified', async () => {
    const secret = new Terminal(`${gpuFile} webhooks listen --print-secret`, { env });
    assert.equal(await secret.ended(), 0);
    writeFileSync(join(folder, 'secret'), secret.shown.trim());
    const target = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hooks`;
    const second = open(`webhooks listen --forward-to ${target}`);
    await second.sees('Listening, and sending events to');
    const shown = await play('rent h100-80gb --gpus 8 --hours 2 --stop-when-idle 1h --name training', {
      act: async (terminal) => {
        await terminal.sees('Rent it for $23.92 an hour?');
        terminal.press(keys.enter);
      },
    });
    assert.match(shown, /At most +\$47\.84/);
    assert.match(shown, /Ready after \d+ s: \w{6}, 8 x H100/);
    await second.sees(/rental\.running +204 in \d+ ms/);
    second.press(keys.ctrlC);
    assert.equal(await second.ended(), 0);
    assert.deepEqual(received.slice(0, 4), [
      ...['rental.created', 'rental.machine_found', 'rental.ssh_answered', 'rental.running'],
    ]);
  });

  it('tells how busy it was, which it first reports after a minute', async () => {
    assert.match(await play('usage training'), /reported no usage/);
  });

  it('enters the machine by its pinned host key', async () => {
    const shown = await play('ssh training -- nvidia-smi --list-gpus');
    assert.equal(shown.match(/^GPU \d: NVIDIA H100/gm)?.length, 8, shown);
  });

  it('copies a file to it and back', async () => {
    const [file, back] = [join(folder, 'a.txt'), join(folder, 'b.txt')];
    writeFileSync(file, 'content');
    for (const line of [`cp ${file} training:a.txt`, `cp :a.txt ${back}`]) {
      const terminal = open(line);
      assert.equal(await terminal.ended(), 0, terminal.shown);
    }
    assert.equal(readFileSync(back, 'utf8'), 'content');
  });

  it('watches its cost, live', async () => {
    await play('watch', {
      act: async (terminal) => {
        await terminal.sees(/running .*\$(?!0\.00)\d+\.\d\d .*\$23\.92/);
        await terminal.sees('Live.');
        terminal.press('q');
      },
    });
  });

  it('says who it is, what happened, and who changed what', async () => {
    assert.match(await play('whoami'), /ann@example\.com/);
    assert.match(await play('events training --limit 3'), /rental\.running/);
    await play('audit --limit 2');
    assert.match(await play('api GET /v1/rentals --jq .rentals[0].name'), /training/);
  });

  it('keeps an address for events, gives it another secret, and sends events again', async () => {
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/stored`;
    const act = async (terminal: Terminal): Promise<void> => {
      await terminal.sees('Six-digit code');
      terminal.enter(await newCode());
    };
    const made = await play(`webhooks create ${url} --types rental.stopped`, { act });
    assert.match(made, /whsec_/);
    await until('it has answered its challenge', async () =>
      (await service.db('webhooks').select('state')).every(({ state }) => state === 'enabled'),
    );
    assert.match(await play('webhooks list'), /enabled/);
    assert.match(await play(`webhooks rotate ${url}`, { act }), /Old secret +valid until/);
    assert.match(await play(`webhooks redeliver ${url} --after 0`, { act }), /on their way/);
  });

  it('names it, labels it, and keeps it running', async () => {
    assert.match(await play('rename training eval'), /eval/);
    assert.match(await play('label eval team=vision'), /team=vision/);
    assert.match(await play('keep-alive eval --for 2h'), /does not stop for being idle before/);
    assert.match(await play('ssh --print eval', wide), /^ssh .*127\.0\.0\.1/m);
    assert.match(await play('ssh-config', wide), /Log in: ssh gpu-eval/);
  });

  it('stops it, and finds every cent', async () => {
    const shown = await play('stop eval');
    const cost = /It cost \$(\d+\.\d\d)/.exec(shown)![1]!;
    const statement = await play('statement');
    assert.match(statement, new RegExp(`Machines +-\\$${cost.replace('.', '\\.')}`));
    const left = (50 - Number(cost)).toFixed(2);
    assert.match(await play('balance'), new RegExp(`Available +\\$${left.replace('.', '\\.')}`));
  });

  it('takes everything along', async () => {
    const file = join(folder, 'account.zip');
    const shown = await play(`account export ${file}`, {
      ...wide,
      act: async (terminal) => {
        await terminal.sees('Six-digit code');
        terminal.enter(await newCode());
      },
    });
    assert.match(shown, /Saved everything/);
    assert.ok(filesIn(new Uint8Array(readFileSync(file)).buffer)['ledger.csv']?.includes('rental_charge'));
  });

  it('says what closing the account does, closes it, and forgets it here', async () => {
    // A mailbox gets five codes an hour, and has had them.
    await service.db('login_codes').delete();
    const shown = await play('account close', {
      act: async (terminal) => {
        await terminal.sees('Six-digit code');
        terminal.enter(await newCode());
        await terminal.sees('To close it');
        terminal.enter(email);
      },
    });
    assert.match(shown, /Back to you +\$49\.\d\d to Visa[^]*Your account is being closed\.[^]*Signed out of/);
    const late = open('balance');
    assert.equal(await late.ended(), exitCodes.signedOut, late.shown);
  });

  it(`is what ${page} shows`, () => {
    const told = recorded
      .join('\n')
      .replaceAll(join(folder, 'home'), '/home/ann')
      .replaceAll(folder, '/home/ann')
      .replaceAll(`gpu on ${hostname()}`, 'gpu on laptop')
      .trimEnd();
    const text = readFileSync(page, 'utf8');
    const [before = '', rest = ''] = text.split(begin);
    const [shown = '', after = ''] = rest.split(end);
    if (process.env['RECORD_CLI'] === '1') {
      writeFileSync(page, `${before}${begin}\n\n\`\`\`text\n${told}\n\`\`\`\n\n${end}${after}`);
      return;
    }
    assert.deepEqual(
      stable(told),
      stable(shown.replace(/^\s*```text\n|\n```\s*$/g, '')),
      'record it anew: RECORD_CLI=1 npx mocha test/clients/cli/story.slow.ts',
    );
  });
});

/**
 * What is the same in each run: the words, without ids, times, ports and what grew by the second. Where lines break depends
 * on the lengths of paths.
 */
function stable(text: string): string[] {
  return (
    text
      // What is said where a machine is slow.
      .replace(/\S+ has not answered for [^]*?Still waiting\./g, '')
      .replace(/https?:\/\/\S+/g, 'URL')
      .replace(/whsec_\S+/g, 'SECRET')
      .replace(/GPU-[0-9a-f-]{36}/g, 'UUID')
      .replace(/\b[0-9A-HJKMNP-TV-Z]{6}\b/g, 'ID')
      .replace(/\b(quo|rent|led|top|key|wh)_\w+/g, 'ID')
      .replace(/\d+ (s|min|h)( \d+ (s|min|h))?\b/g, 'TIME')
      .replace(/\d+/g, '0')
      .split(/\s+/)
      .filter((word) => word !== '')
  );
}
