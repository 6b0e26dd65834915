import assert from 'node:assert/strict';
import { Program } from './support/city.js';
import { installedPython } from './support/python.js';

const head = `import io, os, sys
from gpu_rental._ssh import run_shown
def run(command):
    return run_shown(["sh", "-c"], command, show=True, input=None, timeout=None)
`;
const failing = (error: string): string => `class Failing(io.StringIO):
    def write(self, text):
        raise ${error}
`;
/** More than a pipe holds. */
const much = 'exec seq 1 200000';

/** What becomes of commands whose output nobody takes. */
export function describeCommands(): void {
  describe('a command that Python runs on a machine', function () {
    this.timeout(300_000);
    let python: string;
    before(async () => {
      python = await installedPython();
    });

    async function play(code: string): Promise<Program & { code: number | null }> {
      const program = new Program(python, head + code, process.env);
      const { code: exit } = await program.ended;
      return Object.assign(program, { code: exit });
    }

    for (const name of ['stdout', 'stderr']) {
      it(`ends, and its program's block, when nobody reads its ${name} any more`, async () => {
        const to = name === 'stdout' ? '' : ' >&2';
        const { code, out, err } = await play(`${failing('BrokenPipeError(32, "Broken pipe")')}
kept, sys.${name} = sys.${name}, Failing()
try:
    run("seq 1 200000${to}; exec tail -f /dev/null")
except BrokenPipeError as error:
    sys.${name} = kept
    print("left by", error)
`);
        assert.deepEqual([code, out], [0, 'left by [Errno 32] Broken pipe\n'], err);
      });
    }

    it('leaves the block as a print does when a pipe is closed', async () => {
      const { out, err } = await play(`reading, writing = os.pipe()
os.close(reading)
sys.stdout = os.fdopen(writing, "w")
try:
    run("${much}")
except BrokenPipeError:
    print("left", file=sys.stderr)
    os._exit(0)
`);
      assert.deepEqual([out, err], ['', 'left\n']);
    });

    for (const [what, error] of [
      ['a full disk', 'OSError(28, "No space left on device")'],
      ['a closed file', 'ValueError("I/O operation on closed file")'],
      ['an object of a notebook', 'RuntimeError("no kernel")'],
    ] as const) {
      it(`goes on to its end, and its output is kept, though ${what} takes none of it`, async () => {
        const { code, out, err } = await play(`${failing(error)}
kept, sys.stdout = sys.stdout, Failing()
done = run("${much}")
sys.stdout = kept
print(done.returncode, done.stdout.count("\\n"))
`);
        assert.deepEqual([code, out], [0, '0 200000\n'], err);
        assert.match(err, /RuntimeWarning: The output of the command is no longer shown: /);
      });
    }

    it('shows what an encoding has, and marks the rest', async () => {
      const { code, out, err } =
        await play(`sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding="cp1252")
done = run("printf 'caf\\\\303\\\\251 \\\\342\\\\234\\\\223\\\\n'; echo more")
sys.stdout.flush()
print(ascii(done.stdout), file=sys.stderr)
`);
      assert.deepEqual([code, err], [0, "'caf\\xe9 \\u2713\\nmore\\n'\n"]);
      assert.equal(out, 'caf\ufffd ?\nmore\n');
    });

    it('keeps what must not be left half done though nobody reads what a signal is told', async () => {
      const { code, out, err } = await play(`${failing('OSError(5, "Input/output error")')}
import signal
from gpu_rental import _ending
_ending.soften()
sys.stderr = Failing()
try:
    with _ending.not_now("Ending."):
        os.kill(os.getpid(), signal.SIGHUP)
        print("done", flush=True)
except SystemExit as end:
    print(end.code)
`);
      assert.deepEqual([code, out], [0, 'done\n129\n'], err);
    });

    it('is followed by the ends of all machines though one failed, which nobody reads, and a signal came during one', async () => {
      const { code, out } = await play(`${failing('OSError(5, "Input/output error")')}
from gpu_rental import _ending
def fail(error):
    raise error
_ending.keep(1, lambda: fail(ValueError("away")))
_ending.keep(2, lambda: fail(KeyboardInterrupt()))
_ending.keep(3, lambda: print("ended", flush=True))
sys.stderr = Failing()
`);
      assert.equal(out, 'ended\n');
      assert.equal(code, 0);
    });
  });
}
