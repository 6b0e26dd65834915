import assert from 'node:assert/strict';
import { noUse, type MachineUse } from '../../../domain/machines/telemetry.js';
import { readUse } from '../../../domain/machines/use-report.js';

const head = 'gpu-use 1 86400 12 31 2048 1';
const ofMachine = { cpuPercent: 12, memoryPercent: 31, networkBytesPerSecond: 2_048, sessions: 1 };
const reportOf = (...samples: readonly (readonly string[])[]) =>
  [head, ...samples.flatMap((rows) => ['-', ...rows])].join('\n');

describe('a report of use', () => {
  const cases: readonly (readonly [what: string, body: string, told: Partial<MachineUse>])[] = [
    [
      'means for what is looked at, the most for what decides',
      reportOf(['4, 10', '60, 20'], ['0, 0', '0, 0']),
      { gpuPercent: 16, busiestGpuPercent: 60, gpuMemoryPercent: 7.5 },
    ],
    [
      'no busiest, where a GPU is missing',
      reportOf(['0, 0', '0, 0'], ['0, 0']),
      { gpuPercent: 0, gpuMemoryPercent: 0 },
    ],
    // A sliced GPU tells no use; so does one whose driver can't (Syllo/nvtop#486).
    ['no use, of slices', reportOf(['[N/A], [N/A]', '[N/A], [N/A]']), {}],
    [
      'no use, where it is not supported',
      reportOf(['[Not Supported], [Not Supported]', '1, 1']),
      {
        ...{ gpuPercent: 1, gpuMemoryPercent: 1 },
      },
    ],
    // A wedged card (NVIDIA/open-gpu-kernel-modules#387, JosephKJ/OWOD#81).
    [
      'no busiest, beside a wedged card',
      reportOf(['ERR!, ERR!', '0, 0']),
      {
        ...{ gpuPercent: 0, gpuMemoryPercent: 0 },
      },
    ],
    [
      'no use, of a lost card',
      reportOf(['Unable to determine the device handle for', '0, 0']),
      { gpuPercent: 0, gpuMemoryPercent: 0 },
    ],
    ['no use, without a device', reportOf(['No devices were found']), {}],
    [
      'no use, of a program that is missing',
      reportOf(["timeout: failed to run command 'nvidia-smi': No"]),
      {},
    ],
    ['no use, where the program hangs', reportOf([], []), {}],
    ['no use, of a number that none can be', reportOf(['101, 0', '-1, 0']), { gpuMemoryPercent: 0 }],
    ['the machine alone, without a sample', head, {}],
  ];
  for (const [what, body, told] of cases) {
    it(`tells ${what}`, () => {
      assert.deepEqual(readUse(body, 2), { ...noUse, ...ofMachine, ...told });
    });
  }

  it('tells nothing of what it leaves out, or what is no report', () => {
    assert.deepEqual(readUse('gpu-use 1 86400 - 31 - -\n-\n3, 4', 1), {
      ...{ ...noUse, memoryPercent: 31, gpuPercent: 3, busiestGpuPercent: 3, gpuMemoryPercent: 4 },
    });
    assert.deepEqual(readUse('gpu-use 1 60 -5 101 1e9 0x1', 1), noUse);
    assert.deepEqual(readUse('gpu-proof 1 0\nNVIDIA H100', 1), noUse);
    assert.deepEqual(readUse('', 1), noUse);
  });
});
