import { argsToRun, ourPrograms, type ProgramSources } from '../../lab/programs/built.js';

/** The programs that tests start, besides those of `npm start`: what a program loads by tsx takes twice the time. */
const testPrograms: ProgramSources = {
  ...ourPrograms,
  cacheName: 'gpu-rental-test-programs',
  entries: [
    ...ourPrograms.entries,
    ...['lab/mock/main.ts', 'ops/index.ts', 'test/clients/mcp/support/serve.ts'],
    'test/support/ops/ops-runner.ts',
  ],
};

/** The arguments by which Node runs a program of tests from the build of the present sources, at the project's folder. */
export const argsToTest = (entry: string): Promise<string[]> => argsToRun(entry, testPrograms);
