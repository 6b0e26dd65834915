import { runProgram, type Surroundings } from '../../../../clients/cli/src/surroundings.js';

/** What tells a virtual machine from a container is asked of it: here it is said to be one. */
export const asVirtualMachine: Surroundings['run'] = (program, args, options) =>
  program === 'ssh' && String(args.at(-1)).includes('systemd')
    ? Promise.resolve({ code: 0, stdout: '', stderr: '' })
    : runProgram(program, args, options);
