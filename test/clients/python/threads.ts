import assert from 'node:assert/strict';
import { City, Program } from './support/city.js';
import { installedPython } from './support/python.js';

const head = 'import asyncio, signal\nimport gpu_rental as gpu\n';

/** Python programs that rent or run commands in several threads. */
export function describeThreads(): void {
  describe('the threads of a Python program that rents', function () {
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

    async function play(code: string): Promise<Program & { code: number | null }> {
      const program = new Program(python, head + code, city.env);
      const { code: exit } = await program.ended;
      return Object.assign(program, { code: exit });
    }
    const assertEnded = async (count = 1): Promise<void> => assert.equal(await city.awaitEnds(), count);

    it('end their machines though commands keep all threads of the loop busy', async () => {
      const program = new Program(
        python,
        `${head}from concurrent.futures import ThreadPoolExecutor
gpu.machine.END_WITHIN = 5
async def use(client):
    async with client.rent("rtx-4090", hours=1) as machine:
        await machine.run("echo runs; exec sleep 95")
async def main():
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(2))
    async with gpu.AsyncClient() as client:
        await asyncio.gather(*(use(client) for _ in range(3)))
asyncio.run(main())
`,
        // Names are resolved in the loop's threads.
        { ...city.env, GPU_API_URL: city.url.replace('127.0.0.1', 'localhost') },
      );
      await program.awaitOut(/(runs\n){3}/);
      program.signal('SIGTERM');
      assert.equal((await program.ended).code, 143, program.err);
      await assertEnded(3);
    });

    it('run a command no longer than its task waits for it', async () => {
      const { code, out, err } = await play(
        `async def main():
    async with gpu.AsyncClient() as client:
        async with client.rent("rtx-4090", hours=1) as machine:
            try:
                await asyncio.wait_for(machine.run("exec sleep 95"), 2)
            except asyncio.TimeoutError:
                await machine.run("echo next")
asyncio.run(main())
`,
      );
      assert.equal(code, 0, err);
      assert.match(out, /^next$/m);
      await assertEnded();
    });

    it('are warned where they rent, since no signal reaches them, unless the program takes signals itself', async () => {
      const threaded = `import threading
def use():
    with gpu.rent("rtx-4090", hours=1): pass
thread = threading.Thread(target=use)
thread.start()
thread.join()
`;
      const takes =
        'for name in ("SIGTERM", "SIGHUP"): signal.signal(getattr(signal, name), lambda *_: None)\n';
      const plain = await play(threaded);
      assert.match(
        plain.err,
        /^\S+ RuntimeWarning: A SIGTERM or SIGHUP ends this program and leaves a machine/m,
      );
      assert.equal((await play(takes + threaded)).err, '');
      await assertEnded(2);
    });
  });
}
