import assert from 'node:assert/strict';
import { newLoop } from '../temporal/quiet.js';
import { Chance } from './chance.js';
import { Kernel } from './kernel.js';
import { Trace } from './trace.js';

describe('the rests of loops that poll', () => {
  it('grow while nothing happens', async () => {
    assert.deepEqual(await roundsOf(500), [500, 8_500, 136_500, 2_184_500]);
  });

  it('are not taken by a loop that has more to do at once', async () => {
    assert.deepEqual(await roundsOf(1), [1, 2, 3, 4]);
  });

  it('end for each line of a loop when something happens, though another line has looked since', async () => {
    const kernel = newKernel();
    const loop = newLoop('deliverMails', { isAhead: false });
    const rounds: string[] = [];
    const rest = (line: string): void =>
      kernel.rest(loop, 500, () => {
        rounds.push(`${line} ${kernel.nowMs}`);
        rest(line);
      });
    for (const line of ['all', 'codes']) rest(line);
    kernel.after(20_100, 'a mail is due', () => undefined, { scope: {} });
    await kernel.run(20_600);
    assert.deepEqual(rounds.slice(-2).toSorted(), ['all 20500', 'codes 20500']);
  });
});

function newKernel(): Kernel {
  return new Kernel(new Chance(1, 'order'), new Trace(undefined, 0), 0);
}

/** Lets a loop ask for its next round after so many milliseconds. @returns when its first four rounds came */
async function roundsOf(pauseMs: number): Promise<number[]> {
  const kernel = newKernel();
  const loop = newLoop('deliverMails', { isAhead: false });
  const rounds: number[] = [];
  const resume = (): void => {
    rounds.push(kernel.nowMs);
    if (rounds.length < 4) kernel.rest(loop, pauseMs, resume);
  };
  kernel.rest(loop, pauseMs, resume);
  await kernel.run(3_600_000);
  return rounds;
}
