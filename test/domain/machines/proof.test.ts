import assert from 'node:assert/strict';
import fc from 'fast-check';
import { judgeProof, type Proof, type Told } from '../../../domain/machines/proof.js';

const H100 = 'NVIDIA H100 80GB HBM3, 81559 MiB, 0, 570.133.20, Disabled';
const one = { model: 'H100_SXM_80GB', gpuCount: 1 };
const told = (ended: string, ...lines: string[]): string => [`gpu-proof 1 ${ended}`, ...lines].join('\n');
const badOf = ({ aspects }: Proof): string[] =>
  Object.entries(aspects).flatMap(([name, value]) => (value === 'bad' ? name : []));

describe('the proof of a machine', () => {
  it('is ok where model, count and memory are as rented', () => {
    const proof = judgeProof(told('0', H100), one);
    assert.deepEqual(proof, {
      verdict: 'ok',
      aspects: { model: 'ok', count: 'ok', memory: 'ok', ecc: 'ok', driver: 'ok' },
      faults: [],
    });
  });

  const cases: readonly [what: string, body: string, rented: typeof one, verdict: Told, bad?: string][] = [
    [
      'no ECC on a GeForce',
      told('0', 'NVIDIA GeForce RTX 4090, 24564 MiB, [N/A], 570.133.20, [N/A]'),
      { model: 'RTX_4090', gpuCount: 1 },
      'ok',
    ],
    [
      'words of older drivers',
      told('0', 'GeForce RTX 3090, 24268, [Not Supported], 450.80.02, [Not Supported]'),
      { model: 'RTX_3090', gpuCount: 1 },
      'ok',
    ],
    ['memory without a unit', told('0', H100.replace(' MiB', '')), one, 'ok'],
    [
      'memory less what ECC takes',
      told('0', 'NVIDIA RTX A6000, 46068 MiB, 0, 550.54.15, [N/A]'),
      { model: 'RTX_A6000', gpuCount: 1 },
      'ok',
    ],
    ['a better socket', told('0', H100), { model: 'H100_PCIE_80GB', gpuCount: 1 }, 'ok'],
    ['a lesser socket', told('0', 'NVIDIA H100 PCIe, 81559 MiB, 0, 570.1, Disabled'), one, 'bad', 'model'],
    [
      'another model of less memory',
      told('0', 'Tesla T4, 15360 MiB, 0, 570.1, [N/A]'),
      one,
      'bad',
      'model, memory',
    ],
    ['half of the memory', told('0', H100.replace('81559', '40320')), one, 'bad', 'memory'],
    ['a card short', told('0', H100), { ...one, gpuCount: 2 }, 'bad', 'count'],
    ['uncorrected errors', told('0', H100.replace(', 0,', ', 3,')), one, 'bad', 'ecc'],
    ['a wedged name', told('0', H100.replace('NVIDIA H100 80GB HBM3', 'ERR!')), one, 'bad', 'model'],
    ['a wedged memory', told('0', H100.replace('81559 MiB', '[GPU requires reset]')), one, 'bad', 'memory'],
    ['no card', told('6', 'No devices were found'), one, 'bad', 'count'],
    [
      'a card off the bus',
      told('255', 'Unable to determine the device handle for GPU0000:2A:00.0: Unknown Error'),
      one,
      'bad',
      'count',
    ],
    [
      'a lost card beside a well one',
      told(
        '15',
        H100,
        'Unable to determine the device handle for GPU 0000:02:00.0: GPU is lost.  Reboot the system to recover this GPU',
      ),
      { ...one, gpuCount: 2 },
      'bad',
      'count',
    ],
    [
      'a card of another kind beside the rented one',
      told('0', 'NVIDIA T400, 2048 MiB, [N/A], 570.1, [N/A]', H100),
      one,
      'ok',
    ],
    [
      'a known other card beside the rented one',
      told('0', 'Tesla T4, 15360 MiB, 0, 570.1, [N/A]', H100),
      one,
      'ok',
    ],
    [
      'a slice',
      told('0', 'NVIDIA H100 80GB HBM3, [Insufficient Permissions], [N/A], 570.1, Enabled'),
      one,
      'not_told',
    ],
    [
      'a spelling nobody knows',
      told('0', 'NVIDIA H100 80GB HBM4x, 81559 MiB, 0, 570.1, Disabled'),
      one,
      'not_told',
    ],
    [
      'a driver that is not loaded',
      told('9', "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."),
      one,
      'not_told',
    ],
    [
      'a driver that was changed',
      told('18', 'Failed to initialize NVML: Driver/library version mismatch'),
      one,
      'not_told',
    ],
    [
      'a field that the driver lacks',
      told('2', 'Field "mig.mode.current" is not a valid field to query.'),
      one,
      'not_told',
    ],
    ['a hanging program', told('timeout', 'Tesla T4, 15360 MiB, 0, 570.1, [N/A]'), one, 'not_told'],
    ['no program', told('missing'), one, 'not_told'],
    ['a model without words', told('0', H100), { model: 'MI300X', gpuCount: 1 }, 'not_told'],
    ['another version', H100, one, 'not_told'],
    ['a code that is none', told('nought', H100), one, 'not_told'],
    ['nothing', '', one, 'not_told'],
  ];
  for (const [what, body, rented, verdict, bad] of cases) {
    it(`is ${verdict} for ${what}`, () => {
      const proof = judgeProof(body, rented);
      assert.equal(proof.verdict, verdict);
      assert.equal(badOf(proof).join(', '), bad ?? '');
      assert.equal(proof.faults.length, badOf(proof).length);
    });
  }

  it('repeats nothing of what a machine says', () => {
    const words = '<a href=x>click</a>';
    const lines = Array.from({ length: 100 }, () => `ERR! ${words}, ERR! ${words}, ERR!, ERR!, ERR!`);
    const { verdict, faults } = judgeProof(told('0', ...lines), one);
    assert.equal(verdict, 'bad');
    assert.ok(!faults.join().includes('href'));
  });
});

/** One card of a generated machine, by what is true of it. */
interface Card {
  readonly is: 'right' | 'wrong' | 'nameless' | 'wedged';
  readonly memory: 'whole' | 'half' | 'untold' | 'wedged';
  readonly errors: number | null;
  readonly isSliced: boolean;
}

interface Machine {
  readonly model: keyof typeof sold;
  readonly gpuCount: number;
  readonly cards: readonly Card[];
  readonly way: 'well' | 'hangs' | 'no program' | 'no driver' | 'none' | 'one lost';
}

/** Written down apart from the product's table: what such machines print. */
const sold = {
  RTX_4090: { name: 'NVIDIA GeForce RTX 4090', mib: 24_564, wrong: 'NVIDIA GeForce RTX 3060' },
  A100_SXM_80GB: { name: 'NVIDIA A100-SXM4-80GB', mib: 81_920, wrong: 'NVIDIA A100-SXM4-40GB' },
  L40S: { name: 'NVIDIA L40S', mib: 46_068, wrong: 'NVIDIA L40' },
  B200: { name: 'NVIDIA B200', mib: 183_359, wrong: 'NVIDIA H200' },
};

const card: fc.Arbitrary<Card> = fc.record({
  is: fc.oneof(
    { weight: 12, arbitrary: fc.constant('right' as const) },
    fc.constantFrom('wrong' as const, 'nameless' as const, 'wedged' as const),
  ),
  memory: fc.oneof(
    { weight: 12, arbitrary: fc.constant('whole' as const) },
    fc.constantFrom('half' as const, 'untold' as const, 'wedged' as const),
  ),
  errors: fc.oneof({ weight: 12, arbitrary: fc.constantFrom(0, null) }, fc.integer({ min: 1, max: 99 })),
  isSliced: fc.oneof({ weight: 12, arbitrary: fc.constant(false) }, fc.constant(true)),
});

const machine: fc.Arbitrary<Machine> = fc.record({
  model: fc.constantFrom(...(Object.keys(sold) as (keyof typeof sold)[])),
  gpuCount: fc.constantFrom(1, 2, 4, 8),
  cards: fc.array(card, { minLength: 1, maxLength: 8 }),
  way: fc.oneof(
    { weight: 10, arbitrary: fc.constant('well' as const) },
    fc.constantFrom(
      'hangs' as const,
      'no program' as const,
      'no driver' as const,
      'none' as const,
      'one lost' as const,
    ),
  ),
});

function printed({ model, cards, way }: Machine): string {
  const { name, mib, wrong } = sold[model];
  const names = { right: name, wrong, nameless: 'NVIDIA Graphics Device', wedged: 'ERR!' };
  const memories = {
    whole: `${mib} MiB`,
    half: `${Math.floor(mib / 2)} MiB`,
    untold: '[N/A]',
    wedged: 'ERR!',
  };
  const rows = cards.map(({ is, memory, errors, isSliced }) =>
    [names[is], memories[memory], errors ?? '[N/A]', '570.133.20', isSliced ? 'Enabled' : '[N/A]'].join(', '),
  );
  switch (way) {
    case 'well':
      return told('0', ...rows);
    case 'hangs':
      return told('timeout', ...rows);
    case 'no program':
      return told('missing');
    case 'no driver':
      return told('9', 'NVIDIA-SMI has failed because it couldn’t communicate with the NVIDIA driver.');
    case 'none':
      return told('0', 'No devices were found');
    case 'one lost':
      return told(
        '15',
        ...rows.slice(1),
        'Unable to determine the device handle for GPU 0000:02:00.0: GPU is lost.',
      );
  }
}

/** What each machine deserves, from what is true of it. */
function deserved({ gpuCount, cards, way }: Machine): Told {
  if (way === 'none' || way === 'one lost') return 'bad';
  if (way !== 'well') return 'not_told';
  const isSpoilt = ({ is, isSliced, memory, errors }: Card): boolean =>
    is === 'wrong' ||
    is === 'wedged' ||
    (!isSliced && (memory === 'half' || memory === 'wedged' || (errors ?? 0) > 0));
  const isSure = ({ is, isSliced, memory }: Card): boolean =>
    is === 'right' && !isSliced && memory === 'whole';
  const usable = cards.filter((each) => !isSpoilt(each));
  if (usable.length < gpuCount) return 'bad';
  return usable.filter(isSure).length >= gpuCount ? 'ok' : 'not_told';
}

describe('the proof of generated machines', () => {
  it('is what each deserves, and faults are told for the bad alone', () => {
    const seen = new Map<string, number>();
    fc.assert(
      fc.property(machine, (made) => {
        const { verdict, faults } = judgeProof(printed(made), made);
        const wanted = deserved(made);
        const kind = `${made.way}: ${wanted}`;
        seen.set(kind, (seen.get(kind) ?? 0) + 1);
        assert.equal(verdict, wanted);
        assert.equal(faults.length > 0, wanted === 'bad');
      }),
      { numRuns: 6_000 },
    );
    const ways = ['well: ok', 'well: not_told', 'well: bad', 'hangs: not_told', 'no program: not_told'];
    for (const kind of [...ways, 'no driver: not_told', 'none: bad', 'one lost: bad']) {
      assert.ok((seen.get(kind) ?? 0) > 50, `${kind}: ${seen.get(kind) ?? 0}`);
    }
  });
});
