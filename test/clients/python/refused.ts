import assert from 'node:assert/strict';
import { until } from '../../support/until.js';
import { City, Program } from './support/city.js';
import { installedPython } from './support/python.js';

const create = 'POST /v1/rentals';
const head = 'import asyncio, os, signal, sys, time\nimport gpu_rental as gpu\n';
const again = `${head}
while True:
    try:
        with gpu.rent("rtx-4090"):
            break
    except gpu.refusals.ModelUnavailableError:
        print("again")
`;
const againWaiting = `${head}
async def rent():
    async with gpu.AsyncClient() as client:
        while True:
            try:
                async with client.rent("rtx-4090"):
                    break
            except gpu.refusals.ModelUnavailableError:
                print("again")
`;

/** Python programs that are told to end while a request to rent is on its way. */
export function describeRefused(): void {
  describe('a Python program whose request to rent is refused', function () {
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

    /** Refuses the request once a program that waits for the answer has been told to end. */
    async function refuse(code: string, tell: (program: Program) => Promise<void>) {
      city.fates.set(create, ['is refused']);
      const program = new Program(python, code, city.env);
      const letGo = await until('the request to rent is held', () => Promise.resolve(city.held[0]));
      await tell(program);
      letGo();
      const { code: exit } = await program.ended;
      const creates = city.arrived.filter((what) => what === create).length;
      return { exit, creates, out: program.out, err: program.err };
    }

    for (const [signal, exit] of [
      ['SIGTERM', 143],
      ['SIGHUP', 129],
      ['SIGINT', null],
    ] as const) {
      it(`rents no more after a ${signal} that came meanwhile`, async () => {
        const ended = await refuse(again, async (program) => {
          program.signal(signal);
          await until('it says that it waits', () =>
            Promise.resolve(program.err.includes('waiting for its answer') || undefined),
          );
        });
        assert.deepEqual([ended.exit, ended.creates, ended.out], [exit, 1, ''], ended.err);
      });
    }

    it('rents no more after its task was cancelled meanwhile', async () => {
      const cancelled = `${againWaiting}
async def main():
    task = asyncio.ensure_future(rent())
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, lambda: (task.cancel(), print("cancelled")))
    await asyncio.wait([task])
    print(task.cancelled())
asyncio.run(main())
`;
      const ended = await refuse(cancelled, async (program) => {
        program.signal('SIGUSR1');
        await program.awaitOut(/^cancelled/);
      });
      assert.deepEqual([ended.exit, ended.creates, ended.out], [0, 1, 'cancelled\nTrue\n'], ended.err);
    });

    it('ends the machine of an earlier attempt whose answer was lost', async () => {
      for (const [code, count] of [
        ['with gpu.rent("rtx-4090"): pass\n', 1],
        [`${againWaiting}asyncio.run(rent())\n`, 2],
      ] as const) {
        city.fates.set(create, ['is lost', 'is turned away']);
        const program = new Program(python, head + code, city.env);
        assert.equal((await program.ended).code, 1);
        assert.match(program.err, /^gpu_rental\S+NoAnswerError: No answer from/m);
        assert.equal(await city.awaitEnds(), count);
      }
    });

    it('hears that a machine could not be ended before it hears of a signal or a cancellation', async () => {
      const program = new Program(
        python,
        `${head}
from gpu_rental import _ending
from gpu_rental._tasks import to_its_end
def fails():
    raise gpu.StillRunningError("it runs", "rent_1")
_ending.soften()
try:
    with _ending.not_now("Ending."):
        os.kill(os.getpid(), signal.SIGTERM)
        fails()
except BaseException as error:
    print(repr(error))
async def late():
    await asyncio.sleep(0.1)
    fails()
async def main():
    task = asyncio.ensure_future(to_its_end(late()))
    asyncio.get_running_loop().call_soon(lambda: asyncio.get_running_loop().call_soon(task.cancel))
    await asyncio.wait([task])
    print(repr(task.exception()))
asyncio.run(main())
`,
        process.env,
      );
      await program.ended;
      assert.equal(program.out, "StillRunningError('it runs')\nStillRunningError('it runs')\n", program.err);
    });
  });
}
