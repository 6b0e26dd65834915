import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { City, Program } from './support/city.js';
import { installedPython } from './support/python.js';

const create = 'POST /v1/rentals';
const head = 'import os, signal, sys, time, asyncio\nimport gpu_rental as gpu\n';
const block = (inside: string): string =>
  `${head}with gpu.rent("rtx-4090", hours=1) as machine:\n    print("in", machine.id)\n    ${inside}\n`;
const waiting = (inside: string): string => `${head}
async def main():
    async with gpu.AsyncClient() as client:
        async with client.rent("rtx-4090", hours=1) as machine:
            print("in", machine.id)
            ${inside}
`;

/** The machines of Python programs that end in all ways there are. */
export function describeEnds(): void {
  describe('a machine that a Python program rents', function () {
    this.timeout(300_000);
    let python: string;
    let city: City;

    before(async () => {
      python = await installedPython();
    });
    beforeEach(async () => {
      city = await City.start();
    });
    afterEach(() => city.stop());

    const start = (code: string): Program => new Program(python, code, city.env);
    async function play(code: string): Promise<Program & { code: number | null }> {
      const program = start(code);
      const { code: exit } = await program.ended;
      return Object.assign(program, { code: exit });
    }
    const assertEnded = async (count = 1): Promise<void> => assert.equal(await city.awaitEnds(), count);

    it('is entered with a key of its own, runs commands, tells what they write, and ends', async () => {
      const { out, err, code } = await play(
        block(`machine.run("nvidia-smi -L")
    machine.run(["sh", "-c", "cat; echo worse >&2"], input="from here\\n")
    print(repr(machine.run("echo kept", show=False).stdout))
    try:
        machine.run("exit 7")
    except Exception as error:
        print(repr(error))
    key = machine.ssh_command[-3].split('"')[1]
    print(os.path.exists(key))`) +
          'print(machine.receipt["status"], machine.cost is not None, os.path.exists(key))\n',
      );
      assert.equal(code, 0, err);
      assert.match(
        out,
        /^NVIDIA-SMI -L\nfrom here\n'kept\\n'\nCalledProcessError\(7, 'exit 7', '', ''\)\nTrue\nstopping True False$/m,
      );
      assert.match(err, /^worse$/m);
      assert.deepEqual(new Set(city.machine.entered.map(({ username }) => username)), new Set(['ubuntu']));
      const { body } = await city.session.get('/v1/rentals');
      const [rental] = (body as unknown as { rentals: { autoStopAt: string | null }[] }).rentals;
      assert.ok(rental?.autoStopAt);
      await assertEnded();
    });

    it('is entered from a temporary folder whose name ssh would take apart', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'a b%d"\\c '));
      try {
        const program = new Program(python, block('machine.run("nvidia-smi")'), {
          ...city.env,
          TMPDIR: folder,
        });
        const { code } = await program.ended;
        assert.equal(code, 0, program.err);
        assert.match(program.out, /^NVIDIA-SMI $/m);
        assert.deepEqual(readdirSync(folder), []);
        await assertEnded();
      } finally {
        rmSync(folder, { recursive: true });
      }
    });

    for (const [what, hostKeyFingerprint, words] of [
      ['shows another host key', `SHA256:${'A'.repeat(43)}`, 'has another host key than when it started'],
      ['has not shown its host key yet', null, 'has not shown its host key yet'],
    ] as const) {
      it(`is not entered when it ${what}`, async () => {
        city.machine.told = (
          (told) => () =>
            told.call(city.machine, { hostKeyFingerprint })
        )(
          // eslint-disable-next-line @typescript-eslint/unbound-method
          city.machine.told,
        );
        const { err, code } = await play(block('machine.run("nvidia-smi")'));
        assert.equal(code, 1);
        assert.match(err, new RegExp(`MachineError: rent_\\w+ ${words}`));
        assert.equal(city.machine.entered.length, 0);
        await assertEnded();
      });
    }

    for (const [what, code, exit] of [
      ['an exception', block('raise KeyError("x")'), 1],
      ['sys.exit', block('sys.exit(3)'), 3],
      ['a block that was never entered', `${head}gpu.rent("rtx-4090").start(); print("done")\n`, 0],
      ['an exception in a task', `${waiting('raise KeyError("x")')}asyncio.run(main())\n`, 1],
      [
        'a cancelled task',
        `${waiting('await asyncio.sleep(60)')}
async def early():
    await asyncio.wait_for(main(), 3)
asyncio.run(early())
`,
        1,
      ],
      [
        'an asynchronous machine that nobody stops',
        `${head}
async def main():
    await gpu.AsyncClient().rent("rtx-4090").start()
asyncio.run(main())
`,
        0,
      ],
    ] as const) {
      it(`ends after ${what}`, async () => {
        const ended = await play(code);
        assert.equal(ended.code, exit, ended.err);
        await assertEnded();
      });
    }

    const sleeps = block('time.sleep(60)');
    const sleepsWaiting = `${waiting('await asyncio.sleep(60)')}asyncio.run(main())\n`;
    for (const [name, code, signal, exit] of [
      ['ctrl-C', sleeps, 'SIGINT', undefined],
      ['SIGTERM', sleeps, 'SIGTERM', 143],
      ['SIGHUP', sleeps, 'SIGHUP', 129],
      ['ctrl-C in a task', sleepsWaiting, 'SIGINT', undefined],
      ['SIGTERM in a task', sleepsWaiting, 'SIGTERM', 143],
      ['ctrl-C during a command', block('machine.run("sleep 60")'), 'SIGINT', undefined],
    ] as const) {
      it(`ends after ${name}`, async () => {
        const program = start(code);
        await program.awaitOut(/^in rent_/);
        program.signal(signal);
        const ended = await program.ended;
        if (exit !== undefined) assert.equal(ended.code, exit, program.err);
        else assert.ok(ended.signal === 'SIGINT' || ended.code === 130, program.err);
        await assertEnded();
      });
    }

    it('ends after a signal that comes while the request to rent is open', async () => {
      for (const [code, count] of [
        [block('time.sleep(60)'), 1],
        [`${waiting('await asyncio.sleep(60)')}asyncio.run(main())\n`, 2],
      ] as const) {
        city.fates.set(create, ['waits']);
        city.arrived.length = 0;
        const program = start(code);
        while (!city.arrived.includes(create)) await new Promise((resolve) => setTimeout(resolve, 20));
        program.signal('SIGTERM');
        const { code: exit } = await program.ended;
        assert.equal(exit, 143, program.err);
        assert.equal(program.out, '', 'the block is not begun');
        await assertEnded(count);
      }
    });

    it('ends after a signal that strikes the very task that waits for the request to rent', async () => {
      city.fates.set(create, ['waits']);
      const program = await play(`${head}
async def main():
    client = gpu.AsyncClient()
    machine, create = client.rent("rtx-4090", hours=1), client.create_rental
    async def struck(*given, **named):
        asking = asyncio.ensure_future(create(*given, **named))
        await asyncio.sleep(0.5)
        os.kill(os.getpid(), signal.SIGTERM)
        return await asking
    client.create_rental = struck
    await machine.start()
    print("in", machine.id)
asyncio.run(main())
`);
      assert.deepEqual([program.code, program.out], [143, ''], program.err);
      await assertEnded();
    });

    it('ends when every answer to the request to rent is lost', async () => {
      for (const [code, count] of [
        [block('pass'), 1],
        [`${waiting('pass')}asyncio.run(main())\n`, 2],
      ] as const) {
        city.fates.set(create, ['is lost', 'is lost', 'is lost', 'is lost']);
        const { code: exit, err, out } = await play(code);
        assert.deepEqual([exit, out], [1, ''], err);
        assert.match(err, /NoAnswerError: No answer from/);
        await assertEnded(count);
      }
    });

    it('ends after a task that is cancelled more than once while the request to rent is open', async () => {
      city.fates.set(create, ['waits']);
      const { err, out } = await play(`${head}
async def main():
    client = gpu.AsyncClient()
    machine, create = client.rent("rtx-4090", hours=1), client.create_rental
    async def cancelled(*given, **named):
        for after in (0.2, 0.4, 0.6):
            asyncio.get_running_loop().call_later(after, task.cancel)
        return await create(*given, **named)
    client.create_rental = cancelled
    task = asyncio.ensure_future(machine.start())
    await asyncio.wait([task])
    print(task.cancelled(), machine.id is not None, machine.receipt is not None)
asyncio.run(main())
`);
      assert.equal(out, 'True True True\n', err);
      await assertEnded();
    });

    it('ends after a stop that comes while the request to rent is open', async () => {
      city.fates.set(create, ['waits']);
      const { err, out } = await play(`${head}
async def main():
    machine = gpu.AsyncClient().rent("rtx-4090", hours=1)
    task = asyncio.ensure_future(machine.start())
    while not machine._process:
        await asyncio.sleep(0.01)
    await machine.stop()
    await asyncio.wait([task])
    print(task.exception(), machine.receipt is not None)
asyncio.run(main())
`);
      assert.equal(out, 'The machine was stopped while it was being rented. True\n', err);
      await assertEnded();
    });

    it('ends though the network was away for longer than the service takes to open it', async () => {
      city.fates.set(create, ['is lost']);
      city.fates.set(
        'GET /v1/rentals',
        Array.from({ length: 4 }, () => 'is lost'),
      );
      const impatient = `${head}gpu.machine.OPENED_WITHIN = 1\n`;
      const { err, code } = await play(
        `${impatient}with gpu.Client(retries=0).rent("rtx-4090", hours=1): pass\n`,
      );
      assert.equal(code, 1);
      assert.match(err, /NoAnswerError/);
      await assertEnded();
    });

    it('is told of where the network stays away after the request to rent', async () => {
      city.fates.set(create, ['is lost']);
      city.fates.set(
        'GET /v1/rentals',
        Array.from({ length: 99 }, () => 'is lost'),
      );
      const impatient = `${head}gpu.machine.OPENED_WITHIN, gpu.machine.END_WITHIN = 1, 3\n`;
      const { err, code } = await play(
        `${impatient}with gpu.Client(retries=0).rent("rtx-4090", hours=1): pass\n`,
      );
      assert.equal(code, 1);
      assert.match(err, /^Nobody knows whether a machine was rented\. See your machines with: gpu ls$/m);
    });

    it('is entered though the request to rent is answered that it is still in progress, and ends', async () => {
      city.fates.set(create, ['is in progress']);
      const entering = 'with gpu.Client(retries=0).rent("rtx-4090", hours=1): print("in")';
      const { err, out, code } = await play(`${head}${entering}\n`);
      assert.deepEqual([code, out, err], [0, 'in\n', '']);
      await assertEnded();
    });

    it('ends though its client is closed', async () => {
      const closed = `${head}with gpu.Client() as client:
    machine = client.rent("rtx-4090", hours=1).start()
`;
      const closedWaiting = `${head}
async def begin():
    async with gpu.AsyncClient() as client:
        return await client.rent("rtx-4090", hours=1).start()
machine = asyncio.run(begin())
`;
      for (const [index, code] of [
        closed,
        `${closed}machine.stop()\nprint(machine.receipt["status"])\n`,
        `${closedWaiting}asyncio.run(machine.stop())\nprint(machine.receipt["status"])\n`,
      ].entries()) {
        const { err, out, code: exit } = await play(code);
        assert.deepEqual([exit, err], [0, '']);
        assert.equal(out, index === 0 ? '' : 'stopping\n');
        await assertEnded(index + 1);
      }
    });

    it('runs no command for longer than its timeout, though the command does not read what is sent', async () => {
      const began = Date.now();
      const { err } = await play(block('machine.run("sleep 20", input="x" * 50_000_000, timeout=2)'));
      assert.match(err, /TimeoutExpired: Command 'sleep 20' timed out after 2 seconds/);
      assert.ok(Date.now() - began < 18_000);
      await assertEnded();
    });

    it('ends though answers to its end are lost, and tells what it cost', async () => {
      const program = start(`${block('time.sleep(1)')}print(machine.receipt)\n`);
      await program.awaitOut(/^in rent_/);
      const id = /rent_\w+/.exec(program.out)?.[0] ?? '';
      city.fates.set(`POST /v1/rentals/${id}/stop`, ['is lost', 'is lost']);
      const { code } = await program.ended;
      assert.equal(code, 0, program.err);
      assert.match(program.out, /'finalChargedCents': \d+/);
      await assertEnded();
    });

    it('is named when it could not be ended, with the time when it stops by itself', async () => {
      const program = start(
        `${head}gpu.machine.END_WITHIN = 1\nclient = gpu.Client(timeout=1)\n${block('time.sleep(1)').slice(head.length)}`,
      );
      await program.awaitOut(/^in rent_/);
      const id = /rent_\w+/.exec(program.out)?.[0] ?? '';
      city.fates.set(
        `POST /v1/rentals/${id}/stop`,
        Array.from({ length: 9 }, () => 'is lost'),
      );
      const { code } = await program.ended;
      assert.equal(code, 1);
      assert.match(
        program.err,
        new RegExp(`StillRunningError: ${id} could not be ended .* It stops by itself at 20\\d\\d-`),
      );
    });

    it('outlives a forked child that ends', async () => {
      const { code, out, err } = await play(
        block(`pid = os.fork()
    if pid == 0:
        sys.exit(0)
    os.waitpid(pid, 0)
    print(gpu.Client().show_rental(machine.id)["status"])`),
      );
      assert.equal(code, 0, err);
      assert.match(out, /^running$/m);
      await assertEnded();
    });

    it('is not rented without OpenSSH, or with an amount that is none', async () => {
      const { err } = await play(
        `${head}os.environ["PATH"] = "/nowhere"\n${block('pass').slice(head.length)}`,
      );
      assert.match(err, /MachineError: There is no ssh, ssh-keygen, ssh-keyscan on this computer/);
      const float = await play(`${head}with gpu.rent("rtx-4090", max_spend=1.5): pass\n`);
      assert.match(float.err, /TypeError: an amount is a Decimal, an int or a text/);
      assert.deepEqual(await city.statuses(), []);
    });
  });
}
