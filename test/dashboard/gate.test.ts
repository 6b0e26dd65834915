import assert from 'node:assert/strict';
import { Gate } from '../../clients/dashboard/src/data/gate.js';

describe('a gate', () => {
  /** A work that lasts until somebody ends it. */
  function work() {
    let end = (): void => undefined;
    const until = new Promise<void>((resolve) => (end = resolve));
    let isBegun = false;
    const begin = (): Promise<void> => {
      isBegun = true;
      return until;
    };
    return { begin, end: () => end(), isBegun: () => isBegun };
  }

  it('lets only so many through at once, and the next one when one is done', async () => {
    const gate = new Gate(2);
    const works = [work(), work(), work()];
    const runs = works.map(({ begin }) => gate.run(begin));
    assert.deepEqual(
      works.map(({ isBegun }) => isBegun()),
      [true, true, false],
    );
    works[0]?.end();
    await runs[0];
    assert.equal(works[2]?.isBegun(), true);
    for (const { end } of works) end();
    await Promise.all(runs);
  });

  it('goes on after a failure, and never begins what was called off', async () => {
    const gate = new Gate(1);
    const calledOff = new AbortController();
    const first = work();
    const runs = [
      gate.run(() => first.begin().then(() => Promise.reject(new Error('broken')))),
      gate.run(() => Promise.reject(new Error('never begun')), calledOff.signal),
      gate.run(() => Promise.resolve('third')),
    ];
    const outcomes = Promise.allSettled(runs);
    calledOff.abort(new Error('called off'));
    first.end();
    const [broken, second, third] = await outcomes;
    assert.equal(broken?.status === 'rejected' && (broken.reason as Error).message, 'broken');
    assert.equal(second?.status === 'rejected' && (second.reason as Error).message, 'called off');
    assert.equal(third?.status === 'fulfilled' && third.value, 'third');
  });
});
