import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A line of the code that is made wrong. */
export interface Planted {
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly from: string;
  readonly to: string;
}

/** One wrong line of the code that moves money, and the tests that must notice it. */
export interface Mutation extends Planted {
  readonly tests: readonly string[];
  /** The reason why it may survive; docs/mutations.md tells it as well. */
  readonly survives?: string;
}

const root = path.resolve(import.meta.dirname, '../..');
const copied = [
  'activities',
  'adapters',
  'api',
  'config',
  'config.ts',
  'domain',
  'lab',
  'listener',
  'migrations',
  'money',
  'ops',
  'test',
  'tools',
  'worker',
  'workflows',
  'package.json',
  'tsconfig.json',
  'tsconfig.simulation.json',
  '.mocharc.json',
];

/** A copy of the sources in which faults are planted one at a time. It is gone when the process ends. */
export class PlantedCopy {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'gpu-rental-planted-'));

  constructor() {
    process.on('exit', () => rmSync(this.folder, { recursive: true, force: true }));
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1));
    for (const name of copied) {
      cpSync(path.join(root, name), path.join(this.folder, name), { recursive: true });
    }
    // Nothing is planted in these.
    for (const name of ['node_modules', 'clients'])
      symlinkSync(path.join(root, name), path.join(this.folder, name));
  }

  /**
   * Does something while a line is wrong, and puts it right again.
   * @throws Error when the line does not stand there exactly once: nothing was done
   */
  async with<T>({ file, from, to }: Planted, work: () => Promise<T>): Promise<T> {
    const target = path.join(this.folder, file);
    const source = readFileSync(target, 'utf8');
    if (source.split(from).length !== 2) throw new Error(`this does not stand in ${file} once: ${from}`);
    writeFileSync(
      target,
      source.replace(from, () => to),
    );
    try {
      return await work();
    } finally {
      writeFileSync(target, source);
    }
  }
}
