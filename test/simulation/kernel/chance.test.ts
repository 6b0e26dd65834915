import assert from 'node:assert/strict';
import { Chance } from './chance.js';

describe('the chance of streams whose names are alike', () => {
  it('draws each number about as often as any other, first and in a row', () => {
    const first = new Map<number, number>();
    let same = 0;
    for (let no = 0; no < 1_000; no += 1) {
      const drawn = new Chance(7, `chaos.${no}`).below(10);
      first.set(drawn, (first.get(drawn) ?? 0) + 1);
      if (drawn === new Chance(7, `chaos.${no + 1}`).below(10)) same += 1;
    }
    // Each of ten is drawn 100 times of 1,000, with a deviation of 9.5.
    for (let drawn = 0; drawn < 10; drawn += 1) {
      const times = first.get(drawn) ?? 0;
      assert.ok(times > 60 && times < 140, `${drawn} was drawn ${times} times`);
    }
    assert.ok(same > 60 && same < 140, `${same} neighbours drew the same`);
  });

  it('is the same for the same seed and name', () => {
    const draw = (): number[] => {
      const chance = new Chance(3, 'world');
      return Array.from({ length: 20 }, () => chance.below(1_000));
    };
    assert.deepEqual(draw(), draw());
  });
});
