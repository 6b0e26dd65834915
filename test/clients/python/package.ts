import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { City, Program } from './support/city.js';
import {
  buildPackage,
  installedPython,
  installInto,
  packageFolder,
  pythonWithTools,
} from './support/python.js';

const run = promisify(execFile);
const project = join(packageFolder, '..', '..');

/** The blocks of code of a README, and the cells of a notebook. */
const blocksOf = (readme: string): string[] =>
  [...readme.matchAll(/^```python\n(.*?)^```$/gms)].map(([, code = '']) => code);
const cellsOf = (notebook: string): string[] =>
  (JSON.parse(notebook) as { cells: { cell_type: string; source: string[] }[] }).cells
    .filter((cell) => cell.cell_type === 'code')
    .map(({ source }) => source.join(''));

export function describePackage(): void {
  describe('the Python package', function () {
    this.timeout(600_000);
    let folder: string;
    let city: City;

    before(() => {
      folder = mkdtempSync(join(tmpdir(), 'gpu-rental-python-'));
    });
    after(() => rmSync(folder, { recursive: true, force: true }));
    beforeEach(async () => {
      city = await City.start();
    });
    afterEach(() => city.stop());

    async function play(code: string, python?: string): Promise<string> {
      const program = new Program(python ?? (await installedPython()), code, city.env);
      const { code: exit } = await program.ended;
      assert.equal(exit, 0, `${program.err}\n${program.out.slice(-3000)}`);
      return program.out;
    }

    it('is a wheel and an sdist with its types, its licence and its README, and nothing else', async () => {
      const { wheel, sdist } = await buildPackage();
      const listed = `import sys, tarfile, zipfile
print("\\n".join(zipfile.ZipFile(sys.argv[1]).namelist() + tarfile.open(sys.argv[2]).getnames()))
print(next(zipfile.ZipFile(sys.argv[1]).read(n).decode() for n in zipfile.ZipFile(sys.argv[1]).namelist() if n.endswith("METADATA")))`;
      const { stdout } = await run('python3', ['-c', listed, wheel, sdist]);
      for (const name of [
        'gpu_rental/py.typed',
        'gpu_rental/types.py',
        'licenses/LICENSE',
        '/pyproject.toml',
      ]) {
        assert.ok(stdout.includes(name), name);
      }
      assert.doesNotMatch(stdout, /examples|__pycache__|node_modules/);
      assert.match(stdout, /^Requires-Python: >=3\.9$/m);
      assert.match(stdout, /^License-Expression: Apache-2\.0$/m);
      assert.match(stdout, /^# gpu-rental$/m);
      const licences = [packageFolder, project].map((place) => readFileSync(join(place, 'LICENSE'), 'utf8'));
      assert.equal(licences[0], licences[1]);
    });

    it('has the version of the project', async () => {
      const { version } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as {
        version: string;
      };
      assert.equal((await play('import gpu_rental; print(gpu_rental.__version__)')).trim(), version);
    });

    it('satisfies ruff and mypy --strict for Python 3.9', async () => {
      const python = await pythonWithTools();
      await run(python, ['-m', 'ruff', 'check', '--no-cache', '.'], { cwd: packageFolder });
      const cache = join(folder, 'mypy');
      await run(python, ['-m', 'mypy', '--cache-dir', cache, 'src'], { cwd: packageFolder });
    });

    it('has types that know its calls, what they take, and what they answer', async () => {
      const file = join(folder, 'user.py');
      writeFileSync(
        file,
        `import gpu_rental as gpu
client = gpu.Client(base_url="http://127.0.0.1", retries=2)
rental = client.show_rental("rent_1")
cents: int = rental["pricePerHourCents"]
print(rental["status"] == "runing")  # fault
print(rental["statuss"])  # fault
client.create_rental({"familyId": "b200"})  # fault
client.list_rentals(page_sise=2)  # fault
client.rent("b200", hour=2)  # fault
async def main() -> None:
    async for entry in gpu.AsyncClient().iter_ledger():
        print(entry["amountCents"] + 1)
try:
    pass
except gpu.refusals.InsufficientBalanceError as error:
    needed: int = error.details["requiredCents"]
    print(error.details["required"])  # fault
for item in client.stream_events():
    if isinstance(item, gpu.Happened) and item.event["type"] == "rental.stopped":
        charged: int = item.event["data"]["chargedCents"]
gpu.cents(1.5)  # fault
`,
      );
      const python = await pythonWithTools();
      const asked = ['-m', 'mypy', '--strict', '--cache-dir', join(folder, 'mypy'), file];
      const env = { ...process.env, MYPYPATH: join(packageFolder, 'src') };
      const { stdout } = await run(python, asked, { cwd: packageFolder, env }).catch(
        (error: unknown) => error as { stdout: string },
      );
      const found = [...stdout.matchAll(/user\.py:(\d+): error/g)].map(([, line]) => Number(line));
      const faults = readFileSync(file, 'utf8').split('\n');
      const planted = faults.flatMap((line, index) => (line.endsWith('# fault') ? [index + 1] : []));
      assert.deepEqual([...new Set(found)], planted, stdout);
    });

    it('does what its README shows', async () => {
      const blocks = blocksOf(readFileSync(join(packageFolder, 'README.md'), 'utf8'));
      assert.ok(blocks.length >= 7);
      const [first = '', client = '', limits = '', ...rest] = blocks;
      const names = `import os\nimport gpu_rental as gpu\nURL, KEY = os.environ["GPU_API_URL"], os.environ["GPU_API_KEY"]\n`;
      const rented = await play([first, names, client, limits].join('\n'));
      assert.match(rented, /^NVIDIA-SMI $/m);
      assert.match(rented, /^It cost \d+\.\d\d dollars\.$/m);
      await city.awaitEnds();
      // So many machines that cost nothing are one too many for one account.
      await city.signIn('bob@example.com');
      assert.match(await play([names, client, ...rest].join('\n')), /^\d+ rental\.stopped rent_/m);
      await city.awaitEnds();
    });

    it('does what its notebook shows', async () => {
      const cells = cellsOf(readFileSync(join(packageFolder, 'examples', 'rent.ipynb'), 'utf8'));
      assert.ok(cells.length >= 5);
      const output = await play(cells.join('\n'));
      assert.match(output, /^NVIDIA-SMI $/m);
      assert.match(output, /^It cost \d+\.\d\d dollars\.$/m);
      await city.awaitEnds();
    });

    for (const version of ['3.9', '3.13']) {
      it(`runs on Python ${version}, where this machine has one`, async function () {
        const found = await run(`python${version}`, [
          '-c',
          'import ensurepip, sys; print(sys.executable)',
        ]).catch(() => undefined);
        if (!found) return this.skip();
        const python = await installInto(found.stdout.trim());
        const output = await play(
          `import gpu_rental as gpu, sys, typing
typing.get_type_hints(gpu.types.Rental)
with gpu.rent("rtx-4090") as machine:
    machine.run("nvidia-smi")
print(sys.version, machine.cost is not None)`,
          python,
        );
        assert.match(output, new RegExp(`^${version.replace('.', '\\.')}\\.\\d+ [^]*True$`, 'm'));
        await city.awaitEnds();
      });
    }
  });
}
