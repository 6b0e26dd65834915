import assert from 'node:assert/strict';
import { keptFor, shareLook } from '../../adapters/kept.js';

describe('what was read last', () => {
  let reads = 0;
  let ends: Promise<unknown> = Promise.resolve();
  const read = async (): Promise<number> => {
    reads += 1;
    const nth = reads;
    await ends;
    return nth;
  };
  beforeEach(() => {
    reads = 0;
    ends = Promise.resolve();
  });

  it('is shared by all who ask meanwhile, and holds from its end on', async () => {
    const look = shareLook(60_000, read);
    assert.deepEqual(await Promise.all([look(), look()]), [1, 1]);
    assert.equal(await look(), 1);
  });

  it('is read anew once its time is over, and not before it has come', async () => {
    let finish: (value?: unknown) => void = () => undefined;
    ends = new Promise((resolve) => (finish = resolve));
    const look = shareLook(0, read);
    const both = [look(), look()];
    finish();
    assert.deepEqual(await Promise.all(both), [1, 1]);
    assert.equal(await look(), 2);
  });

  it('may be a failure, which holds as well; of a key it is read again by the next', async () => {
    ends = Promise.reject(new Error('away'));
    const [look, keyed] = [
      shareLook(60_000, read),
      keptFor(new Map<string, () => Promise<number>>(), 60_000, read),
    ];
    for (const ask of [look, look, () => keyed('a'), () => keyed('a')]) await assert.rejects(ask(), /away/);
    assert.equal(reads, 3);
  });

  it('is that of its key', async () => {
    const keyed = keptFor(
      new Map<string, () => Promise<string>>(),
      60_000,
      async (key: string) => `${key}${await read()}`,
    );
    assert.deepEqual([await keyed('a'), await keyed('b'), await keyed('a')], ['a1', 'b2', 'a1']);
  });
});
